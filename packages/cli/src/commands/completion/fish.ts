import { type DescribedFlag, offeredFlags } from "../../flags/flag-help.ts";
import { offeredCommands, shortHelp, valueKind } from "./offered.ts";

export function fishScript(): string {
  return [
    "# fish completion for outrider; made by: outrider completion fish",
    ...offeredCommands.flatMap(([name, { actions, help }]) => [
      `complete -c outrider -n __fish_use_subcommand -f -a ${name} -d '${shortHelp(help)}'`,
      ...(actions.length > 0
        ? [`complete -c outrider -n '__fish_seen_subcommand_from ${name}' -f -a '${actions.join(" ")}'`]
        : []),
    ]),
    ...offeredFlags.map(describeFlag),
    "",
  ].join("\n");
}

function describeFlag(flag: DescribedFlag): string {
  const kinds = {
    choices: `-x -a '${flag.choices?.join(" ")}'`,
    file: "-r -F",
    folder: "-x -a '(__fish_complete_directories)'",
    text: "-x",
  };
  const value = flag.kind === "switch" ? "" : ` ${kinds[valueKind(flag)]}`;
  const short = flag.short ? ` -s ${flag.short}` : "";
  return `complete -c outrider -l ${flag.name}${short}${value} -d '${shortHelp(flag.help)}'`;
}
