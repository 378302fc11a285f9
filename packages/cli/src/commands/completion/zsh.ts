import { type DescribedFlag, offeredFlags } from "../../flags/flag-help.ts";
import { offeredCommands, shortHelp, valueKind } from "./offered.ts";

export function zshScript(): string {
  return `#compdef outrider
# zsh completion for outrider; made by: outrider completion zsh
_outrider() {
  local -a commands
  commands=(
${offeredCommands.map(([name, { help }]) => `    '${name}:${shortHelp(help)}'`).join("\n")}
  )
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands
    return
  fi
  if ((CURRENT == 3)) && [[ $words[3] != -* ]]; then
    case $words[2] in
${actions().join("\n")}
    esac
  fi
  _arguments -s \\
${offeredFlags.flatMap(specs).join("\n")}
    '*:prompt:_files'
}
# As a file of fpath it is called; sourced, it is registered.
if [[ $funcstack[1] == _outrider ]]; then _outrider "$@"; else compdef _outrider outrider; fi
`;
}

function specs(flag: DescribedFlag): string[] {
  const repeats = flag.kind === "words" || flag.kind === "list" ? "*" : "";
  const spelled = [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])];
  const value =
    flag.kind === "switch" ? "" : `:${(flag.placeholder ?? "value").replace(/[:[\]|]/g, " ").trim()}:${completer(flag)}`;
  return spelled.map((one) => `    '${repeats}${one}[${shortHelp(flag.help)}]${value}' \\`);
}

function completer(flag: DescribedFlag): string {
  const kinds = { choices: `(${flag.choices?.join(" ")})`, file: "_files", folder: "_files -/", text: "" };
  return kinds[valueKind(flag)];
}

function actions(): string[] {
  return offeredCommands
    .filter(([, { actions }]) => actions.length > 0)
    .map(([name, { actions }]) => `      ${name}) compadd ${actions.join(" ")}; return ;;`);
}
