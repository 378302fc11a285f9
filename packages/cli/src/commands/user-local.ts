import { runUserLocal, userLocalUsage } from "@outrider/runtime/admin";
import { exitCodes } from "../exit-codes.ts";
import { takeOwnWords } from "../flags/words.ts";
import { lookAtProject } from "../request/project.ts";
import { print, visible } from "../terminal/visible.ts";

const usage = `Usage: outrider user-local WORDS [--cwd DIR] [--format json]
${userLocalUsage
  .split("; ")
  .map((line) => `  outrider user-local ${line}`)
  .join("\n")}
`;

/** What is kept for the user alone, by the same function as /user-local in a session. No provider is needed. */
export async function runUserLocalCommand(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--help", "-h"], values: ["--cwd"] });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const { root, outriderHome } = await lookAtProject({ cwd: words.value("--cwd") });
  const { message, data, format } = await runUserLocal(words.rest, { root: outriderHome, repository: root });
  await print(`${format === "json" ? JSON.stringify(data, null, 2) : message.split("\n").map(visible).join("\n")}\n`);
  return exitCodes.success;
}
