import { peekFlag } from "./args.ts";
import { exitCodes } from "./exit-codes.ts";

declare const OUTRIDER_VERSION: string;

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});

async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === "demo") return await (await import("./commands/demo.ts")).runDemo(argv.slice(1));
  const { failEarly, runOnce } = await import("./commands/run.ts");
  try {
    if (argv[0] === "providers") return await (await import("./commands/providers.ts")).runProviders(argv.slice(1));
    if (argv[0] === "models") return await (await import("./commands/models.ts")).runModels(argv.slice(1));
    if (argv[0] === "permissions") return await (await import("./commands/permissions.ts")).runPermissions(argv.slice(1));
    const { parseArguments } = await import("./args.ts");
    const args = parseArguments(argv);
    if (args.flags.version) return await print(`${OUTRIDER_VERSION} (Outrider)\n`);
    if (args.flags.help) return await print((await import("./help.ts")).helpText(OUTRIDER_VERSION));
    return await runOnce(args);
  } catch (error) {
    return await failEarly(error, peekFlag(argv, "output-format"));
  }
}

async function print(text: string): Promise<number> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  return exitCodes.success;
}
