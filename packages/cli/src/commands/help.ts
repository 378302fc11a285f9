import { RuntimeError } from "@outrider/runtime";
import { exitCodes } from "../exit-codes.ts";
import { refuseMistyped } from "../flags/about-subcommands.ts";
import { helpText } from "../flags/help.ts";
import { isSubcommand, subcommands } from "../subcommands.ts";
import { print } from "../terminal/visible.ts";

declare const OUTRIDER_VERSION: string;

/** The help text, or that of one command. */
export async function runHelp([name, ...more]: readonly string[]): Promise<number> {
  if (more.length > 0) throw new RuntimeError("usage", "help takes one command");
  if (name === undefined || name === "help" || name.startsWith("-")) {
    await print(helpText(OUTRIDER_VERSION));
    return exitCodes.success;
  }
  if (!isSubcommand(name)) {
    refuseMistyped(name);
    throw new RuntimeError("usage", `There is no command ${JSON.stringify(name)}`, { hint: "See outrider help" });
  }
  return await (await subcommands[name]())(["--help"]);
}
