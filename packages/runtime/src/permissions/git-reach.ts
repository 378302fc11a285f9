import type { Program } from "./parsed-command.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

/** Programs that would not find `git` where PATH of the command's shell says: something around them changes the environment. */
export function outOfReach(programs: readonly Program[], isLost = false): Program[] {
  return programs.flatMap((program) => [
    ...(isLost ? [program] : []),
    ...outOfReach(program.inside, isLost || !keepsEnvironment(program)),
  ]);
}

/** Start what they are given in the environment they have, whatever their options. */
const passing = new Set(["nohup", "nice", "ionice", "setsid", "stdbuf", "time", "timeout", "xargs", "find", "eval", "trap"]);

/** `zsh` is not among the shells: it reads a file of the user's at every start. */
const shells = new Set(["bash", "sh", "dash"]);

/** Others start programs with the environment they were given only if no option tells them otherwise. */
function keepsEnvironment({ name, words }: Program): boolean {
  if (passing.has(name)) return true;
  const [first] = words.slice(1);
  if (name === "command" || name === "exec" || name === "env") return first !== undefined && !isOption(first);
  if (!shells.has(name)) return false;
  const code = words.findIndex((word) => /^-[a-z]*c$/.test(word.text));
  return code > 0 && words.slice(1, code + 1).every((word) => isPlain(word) && /^-[ceux]+$/.test(word.text));
}

function isOption(word: ShellWord): boolean {
  return word.text.startsWith("-") || (word.kind !== "exact" && !/^[A-Za-z_]\w*=/.test(word.text));
}
