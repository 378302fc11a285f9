import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { print } from "../../terminal/visible.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

const usage = `Usage:
  outrider completion bash|zsh|fish       print a script that completes commands, flags and their values

  bash   echo 'source <(outrider completion bash)' >> ~/.bashrc
  zsh    outrider completion zsh > "\${fpath[1]}/_outrider"
  fish   outrider completion fish > ~/.config/fish/completions/outrider.fish
`;

const scripts: Readonly<Record<string, () => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** All three are made of the same tables as the parser and the help text. */
export async function runCompletion(args: readonly string[]): Promise<number> {
  const [shell, ...more] = args;
  if (shell === "--help" || shell === "-h") await print(usage);
  else {
    const script = shell !== undefined && Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (!script || more.length > 0) throw wrongWords(args);
    await print(script());
  }
  return exitCodes.success;
}

function wrongWords([shell, ...more]: readonly string[]): RuntimeError {
  if (shell === undefined) return new RuntimeError("usage", `completion needs the name of a shell\n${usage}`);
  const guess = more.length === 0 ? nearest(shell, Object.keys(scripts)) : undefined;
  const words = [shell, ...more].join(" ");
  return new RuntimeError("usage", `completion does not take ${words}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`);
}
