import { claimProcess } from "@outrider/runtime/host";
import { type Arguments, parseArguments, peekFlag } from "./flags/args.ts";
import { exitCodes } from "./exit-codes.ts";
import { isSdk } from "./run/sdk-host.ts";
import { isSubcommand, subcommands } from "./subcommands.ts";
import { isTerminal } from "./terminal/is-terminal.ts";

declare const OUTRIDER_VERSION: string;

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

async function main(argv: readonly string[]): Promise<number> {
  claimProcess();
  const { runOnce } = await import("./commands/run.ts");
  try {
    const [first] = argv;
    if (isSubcommand(first)) return await (await subcommands[first]())(argv.slice(1));
    if (first !== undefined && /^[a-z][a-z-]*$/.test(first)) (await import("./flags/about-subcommands.ts")).refuseMistyped(first);
    const isHosted = isSdk(process.env) && peekFlag(argv, "input-format") === "stream-json";
    const known = isHosted ? (await import("./flags/known-words.ts")).knownWords(argv) : { words: argv, ignored: [] };
    const args = parseArguments(known.words);
    if (args.flags.version) return await print(`${OUTRIDER_VERSION} (Outrider)\n`);
    if (args.flags.help) return await print((await import("./flags/help.ts")).helpText(OUTRIDER_VERSION));
    if (args.flags["input-format"] === "stream-json") {
      const { runLiveCommand } = await import("./commands/live.ts");
      return await runLiveCommand(args, known.ignored);
    }
    if (args.flags["init-only"]) return await (await import("./commands/init-only.ts")).runInitOnly(args);
    if (isConversation(args)) return await (await import("./conversation/conversation.ts")).runConversation(args);
    return await runOnce(args);
  } catch (error) {
    const [format, flavor, sessionId] = [peekFlag(argv, "output-format"), peekFlag(argv, "flavor"), peekFlag(argv, "session-id")];
    const { failEarly } = await import("./run/fail-early.ts");
    return await failEarly(error, { format, flavor, sessionId, verbose: argv.includes("--verbose") });
  }
}

/** Nothing to run, and a person at the terminal. */
function isConversation({ positionals, flags }: Arguments): boolean {
  return positionals.length === 0 && !flags.print && flags["output-format"] === undefined && isTerminal(0) && isTerminal(1);
}

async function print(text: string): Promise<number> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  return exitCodes.success;
}
