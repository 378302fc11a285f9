import { parseArguments, peekFlag } from "./flags/args.ts";
import { exitCodes } from "./exit-codes.ts";

declare const OUTRIDER_VERSION: string;

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

type Run = (args: readonly string[]) => Promise<number>;

const commands: Readonly<Record<string, () => Promise<Run>>> = {
  acp: async () => (await import("./commands/acp.ts")).runAcp,
  checkpoints: async () => (await import("./commands/checkpoints/checkpoints.ts")).runCheckpoints,
  config: async () => (await import("./commands/config.ts")).runConfig,
  demo: async () => (await import("./commands/demo.ts")).runDemo,
  models: async () => (await import("./commands/models.ts")).runModels,
  permissions: async () => (await import("./commands/permissions/permissions.ts")).runPermissions,
  providers: async () => (await import("./commands/providers.ts")).runProviders,
  sessions: async () => (await import("./commands/sessions/sessions.ts")).runSessions,
  trajectory: async () => (await import("./commands/trajectory.ts")).runTrajectory,
  trust: async () => (await import("./commands/trust.ts")).runTrust,
};

async function main(argv: readonly string[]): Promise<number> {
  const { failEarly, runOnce } = await import("./commands/run.ts");
  try {
    const command = Object.hasOwn(commands, argv[0] ?? "") ? commands[argv[0] ?? ""] : undefined;
    if (command) return await (await command())(argv.slice(1));
    const args = parseArguments(argv);
    if (args.flags.version) return await print(`${OUTRIDER_VERSION} (Outrider)\n`);
    if (args.flags.help) return await print((await import("./flags/help.ts")).helpText(OUTRIDER_VERSION));
    if (args.flags["input-format"] === "stream-json") {
      const { runLiveCommand } = await import("./commands/live.ts");
      return await runLiveCommand(args, (line) => process.stderr.write(`outrider: ${line}\n`));
    }
    return await runOnce(args);
  } catch (error) {
    const [format, flavor, sessionId] = [peekFlag(argv, "output-format"), peekFlag(argv, "flavor"), peekFlag(argv, "session-id")];
    return await failEarly(error, { format, flavor, sessionId });
  }
}

async function print(text: string): Promise<number> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  return exitCodes.success;
}
