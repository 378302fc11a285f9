import type { FileUse, ParsedCommand, Program, Setting } from "../../packages/runtime/src/permissions/parsed-command.ts";
import type { Moment } from "../../packages/runtime/src/permissions/moments.ts";
import type { Places } from "../../packages/runtime/src/permissions/places.ts";
import type { ShellWord } from "../../packages/runtime/src/permissions/shell-words.ts";

/**
 * How a command line is read, in one line: programs with their words, `{what they run}`, `‹what is hidden›`, `>` writes, `<` reads,
 * `?` patterns, `=` variables, and what is in doubt.
 */
export function showCommand({
  programs,
  writes,
  reads,
  patterns,
  settings,
  understood,
  reason,
  tooLarge,
}: ParsedCommand): string {
  return [
    ...programs.map(showProgram),
    ...reads.map((use) => `< ${showUse(use)}`),
    ...writes.map((use) => `> ${showUse(use)}`),
    ...patterns.map((use) => `? ${showUse(use)}`),
    ...settings.map((one) => `= ${showSetting(one)}`),
    ...(tooLarge ? ["too large"] : []),
    ...(understood ? [] : [`doubt: ${reason}`]),
  ].join(" ; ");
}

/** `text` is exact, `text*` a pattern, `text/**` below a folder, `text…` goes on; `+` may be several, `~` is at home, `#` is a number. */
export function showWord(word: ShellWord): string {
  const { kind, text, splits, tilde, needs, digits, pattern, numbered, top, program } = word;
  const { links, names, only, path, index } = needs ?? {};
  const wants = [links && "links", names && "names", only, path && "path", index && "index"].filter(Boolean);
  return [
    tilde ? "~:" : "",
    text === "" || /[\s"{}]/.test(text) ? JSON.stringify(text) : text,
    { exact: "", glob: "*", below: `/**${wants.length > 0 ? `(${wants.join(",")})` : ""}`, open: "…" }[kind],
    pattern ? "*" : "",
    digits ? "#" : "",
    numbered !== undefined && numbered !== "0" && !digits ? `#${numbered}` : "",
    top ? "^top" : "",
    program === undefined ? "" : `^${program}`,
    splits ? "+" : "",
  ].join("");
}

function showProgram(program: Program): string {
  const { name, words, settings, places, moment, inside, transparent, insideAt, hidden } = program;
  const parts = [
    ...settings.map(showSetting),
    words.map(showWord).join(" "),
    words[0]?.text === name ? "" : `(${name})`,
    showPlaces(places) + showMoment(moment),
    `${transparent ? "=" : ""}${insideAt ?? ""}${inside.length > 0 ? `{ ${inside.map(showProgram).join(" ; ")} }` : ""}`,
    hidden === undefined ? "" : `‹${hidden}›`,
  ];
  return parts.filter(Boolean).join(" ");
}

function showSetting({ name, value, exported }: Setting): string {
  return `${name}${value ? `=${showWord(value)}` : ""}${exported ? "!" : ""}`;
}

function showUse({ word, places, moment }: FileUse): string {
  return [showWord(word), showPlaces(places) + (moment ? showMoment(moment) : "")].filter(Boolean).join(" ");
}

function showPlaces(places: Places): string {
  if (places === undefined) return "@?";
  const chains = places.map((chain) => chain.map(showWord).join("/") || ".");
  return chains.length === 1 && chains[0] === "." ? "" : `@${chains.join("|")}`;
}

/** `^2` comes when two others may have come before; behind it, until when. */
function showMoment({ at, until, again }: Moment): string {
  return `^${at}${until === at ? "" : until === Number.POSITIVE_INFINITY ? "-" : `-${until}`}${again ? "r" : ""}`;
}
