import { offeredFlags } from "../../flags/flag-help.ts";
import { offeredCommands, valueKind } from "./offered.ts";

export function bashScript(): string {
  const spelled = offeredFlags.map((flag) => `--${flag.name}`).join(" ");
  return `# bash completion for outrider; made by: outrider completion bash
_outrider() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # "--flag=value" comes as three words.
  if [[ $word == "=" ]]; then word=""; elif [[ $before == "=" ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  case $before in
${values().join("\n")}
  esac
  if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
    COMPREPLY=($(compgen -W "${offeredCommands.map(([name]) => name).join(" ")}" -- "$word"))
    return
  fi
  if ((COMP_CWORD == 2)) && [[ $word != -* ]]; then
    case \${COMP_WORDS[1]} in
${actions().join("\n")}
    esac
  fi
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "${spelled}" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -o bashdefault -F _outrider outrider
`;
}

function values(): string[] {
  return offeredFlags.flatMap((flag) => {
    const spellings = [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])].join("|");
    const kind = valueKind(flag);
    if (flag.kind === "switch" || kind === "text") return [];
    const words = { choices: `-W "${flag.choices?.join(" ")}"`, file: "-f", folder: "-d" }[kind];
    return [`    ${spellings}) COMPREPLY=($(compgen ${words} -- "$word")); return ;;`];
  });
}

function actions(): string[] {
  return offeredCommands
    .filter(([, { actions }]) => actions.length > 0)
    .map(([name, { actions }]) => `      ${name}) COMPREPLY=($(compgen -W "${actions.join(" ")}" -- "$word")); return ;;`);
}
