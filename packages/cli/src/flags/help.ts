import { isSubcommand } from "../subcommands.ts";
import { aboutSubcommands, writtenAs } from "./about-subcommands.ts";
import { type DescribedFlag, offeredFlags } from "./flag-help.ts";
import { flagGroups } from "./flags.ts";

/** Not wider than `columns`, where a terminal is narrow. */
export function helpText(version: string, columns: number = process.stdout.columns ?? widest): string {
  const width = Math.max(narrowest, Math.min(widest, columns));
  const lines = [
    `outrider ${version}: runs LLM agents unattended, in scripts, CI and servers.`,
    "",
    "Usage:",
    '  outrider -p "fix the failing test"             run one prompt; the answer goes to stdout',
    '  git diff | outrider -p "review this"           stdin is added to the prompt',
    "  outrider - < prompt.md                         read the prompt from stdin",
    "  outrider                                       at a terminal: open a conversation",
    ...Object.keys(aboutSubcommands).flatMap((name) => describeSubcommand(name, width)),
    "  outrider --input-format stream-json --output-format stream-json   driven by another program, line by line",
    "",
    ...flagGroups.flatMap((group) => [
      `${group}:`,
      ...offeredFlags.filter((flag) => flag.group === group).flatMap((flag) => describeFlag(flag, width)),
      "",
    ]),
    "Exit codes:",
    "  0 success · 1 error · 2 the model refused, gave no usable answer or did not fit the schema · 64 wrong usage",
    "  65 a replay differs · 66 no input · 75 --max-turns, --max-requests · 76 the model repeats itself (--loop-stop)",
    "  78 invalid settings, no provider, or unusable storage",
    "  124 stopped by a signal, a deadline or a closed output · 130 second Ctrl-C · 137 --max-budget-usd",
    "",
    "Environment:",
    "  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …   keys: see outrider providers list",
    "  HTTPS_PROXY, HTTP_PROXY, NO_PROXY, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS   proxies and certificates",
    "  OUTRIDER_HOME   where settings.json, models.json and sessions are kept (~/.outrider)",
    "  OUTRIDER_MAX_RETRIES, OUTRIDER_CONNECT_TIMEOUT_MS, OUTRIDER_IDLE_TIMEOUT_MS   and more: see the README",
    "",
    "Examples:",
    '  outrider -p "why does the test fail?" --output-format json | jq -r .result',
    '  outrider -p "bump the version" --permission-mode acceptEdits --allow npm',
    "",
  ];
  return lines.flatMap((line) => hang(line, width)).join("\n");
}

const widest = 100;
const narrowest = 30;
/** From here on what is said about a thing stands beside it, not below it. */
const roomy = 80;
const below = 6;

function describeSubcommand(name: string, width: number): string[] {
  const head = `  outrider ${writtenAs(name)}`;
  const about = isSubcommand(name) ? aboutSubcommands[name].help : "";
  return width < widest ? [head, ...indented(about, { by: below, width })] : [`${head.padEnd(46)}   ${about}`];
}

const column = 34;

function describeFlag(flag: DescribedFlag, width: number): string[] {
  const short = flag.short ? `-${flag.short}, ` : "    ";
  const head = `  ${short}--${flag.name}${flag.placeholder ? ` ${flag.placeholder}` : ""}`;
  if (width < roomy) return [head, ...indented(flag.help, { by: below, width })];
  const [first = "", ...more] = indented(flag.help, { by: column, width });
  return head.length < column - 1 ? [head.padEnd(column) + first.trimStart(), ...more] : [head, first, ...more];
}

function indented(text: string, { by, width }: { by: number; width: number }): string[] {
  return wrap(text, width - by).map((line) => " ".repeat(by) + line);
}

/** A line that is too long goes on below, further in. What is as wide as it has to be on a wide screen stays. */
function hang(line: string, width: number): string[] {
  if (width >= widest || line.length <= width) return [line];
  const by = line.length - line.trimStart().length;
  const [first = "", ...more] = wrap(line.trimStart().replace(/ {2,}/g, " "), width - by - 4);
  return [" ".repeat(by) + first, ...more.map((rest) => " ".repeat(by + 4) + rest)];
}

function wrap(text: string, limit: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line && line.length + word.length + 1 > limit) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line];
}
