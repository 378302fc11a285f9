import { isSubcommand } from "../subcommands.ts";
import { aboutSubcommands, writtenAs } from "./about-subcommands.ts";
import { type Flag, flagGroups, flags } from "./flags.ts";

export function helpText(version: string): string {
  return [
    `outrider ${version}: runs an LLM agent without anyone watching, in scripts, CI and servers.`,
    "",
    "Usage:",
    '  outrider -p "fix the failing test"             one prompt; the answer goes to stdout',
    '  git diff | outrider -p "review this"           stdin is added to the prompt',
    "  outrider - < prompt.md                         the prompt comes from stdin",
    ...Object.keys(aboutSubcommands).map(describeSubcommand),
    "  outrider --input-format stream-json --output-format stream-json   driven by another program, line by line",
    "",
    ...flagGroups.flatMap((group) => [`${group}:`, ...offered.filter((flag) => flag.group === group).flatMap(describeFlag), ""]),
    "Exit codes:",
    "  0 success · 1 error · 2 the model refused, gave no usable answer or did not fit the schema · 64 wrong usage",
    "  65 a replay differs · 66 no input · 75 --max-turns, --max-requests · 76 the same call again and again",
    "  78 configuration, provider or storage missing",
    "  124 stopped by a signal, a deadline or a closed output · 130 second Ctrl-C · 137 --max-budget-usd",
    "",
    "Environment:",
    "  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …   the provider: outrider providers list",
    "  HTTPS_PROXY, HTTP_PROXY, NO_PROXY, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS   the way to it",
    "  OUTRIDER_HOME   where settings.json, models.json and sessions are kept (~/.outrider)",
    "  OUTRIDER_MAX_RETRIES, OUTRIDER_CONNECT_TIMEOUT_MS, OUTRIDER_IDLE_TIMEOUT_MS   and more: see the README",
    "",
    "Examples:",
    '  outrider -p "why does the test fail?" --output-format json | jq -r .result',
    '  outrider -p "bump the version" --permission-mode acceptEdits --allowedTools "Bash(npm test)"',
    "",
  ].join("\n");
}

const offered = (flags as readonly Flag[]).filter(({ refused }) => refused === undefined);

function describeSubcommand(name: string): string {
  const head = `  outrider ${writtenAs(name)}`;
  return `${head.padEnd(46)}   ${isSubcommand(name) ? aboutSubcommands[name].help : ""}`;
}

const column = 34;
const width = 100;

function describeFlag(flag: Flag): string[] {
  const short = flag.short ? `-${flag.short}, ` : "    ";
  const head = `  ${short}--${flag.name}${flag.placeholder ? ` ${flag.placeholder}` : ""}`;
  const lines = wrap(flag.help, width - column);
  const first = head.length < column - 1 ? [head.padEnd(column) + lines[0]] : [head, " ".repeat(column) + lines[0]];
  return [...first, ...lines.slice(1).map((line) => " ".repeat(column) + line)];
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
