import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import {
  type CaseVerdict,
  explainPermission,
  isAsExpected,
  isPermissionMode,
  judgeCase,
  lintRule,
  nearest,
  type PermissionCase,
  parseCase,
  parseRule,
  RuntimeError,
} from "@outrider/runtime";
import { parseArguments } from "../args.ts";
import { exitCodes } from "../exit-codes.ts";

const usage = `Usage:
  outrider permissions explain "Bash(git push)" [--allowedTools RULE…] [--disallowedTools RULE…] [--permission-mode MODE] [--cwd DIR]
                                          what would be decided about a call, and why; nothing is run
  outrider permissions lint RULE…         what is wrong with rules, or wider than it looks
  outrider permissions test --cases FILE.jsonl
                                          decide each case and compare; exit code 1 when one differs
`;

/** What may be done, asked without doing it. */
export async function runPermissions(args: readonly string[]): Promise<number> {
  const [action = "", ...rest] = args;
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) return await print(usage);
  switch (action) {
    case "explain":
      return await explain(rest);
    case "lint":
      return await lint(rest);
    case "test":
      return await test(rest);
    default: {
      const guess = nearest(action, ["explain", "lint", "test"]);
      throw new RuntimeError(
        "usage",
        `permissions has no action ${JSON.stringify(action)}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`,
      );
    }
  }
}

async function explain(args: readonly string[]): Promise<number> {
  const { flags, positionals } = parseArguments(args);
  const [call, ...more] = positionals;
  if (call === undefined || more.length > 0) throw new RuntimeError("usage", `permissions explain takes one call\n${usage}`);
  const mode = flags["permission-mode"];
  const root = await realPath(resolve(flags.cwd ?? "."));
  const home = homedir();
  const toRules = (texts: readonly string[] | undefined, source: string) => (texts ?? []).map((text) => parseRule(text, source));
  const policy = {
    mode: isPermissionMode(mode) ? mode : "default",
    allow: toRules(flags.allowedTools, "--allowedTools"),
    ask: [],
    deny: toRules(flags.disallowedTools, "--disallowedTools"),
    base: { root, home, platform: process.platform },
    readable: [],
    trusted: false,
  } as const;
  const { effect, reason, rule, source, programs, doubt } = await explainPermission(call, policy, async (path) =>
    realPath(path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(root, path)),
  );
  const lines = [
    ["decision", effect],
    ["reason", reason],
    [effect === "ask" ? "would be allowed by" : "rule", rule],
    ["written in", source],
    ["runs", programs?.join(" · ")],
    ["not understood", doubt],
  ];
  return await print(lines.flatMap(([name, value]) => (value ? [`${name}: ${visible(value)}\n`] : [])).join(""));
}

async function lint(rules: readonly string[]): Promise<number> {
  if (rules.length === 0) throw new RuntimeError("usage", `permissions lint needs rules\n${usage}`);
  const problems = rules.flatMap((rule) => lintRule(rule).map((problem) => ({ rule, ...problem })));
  await print(problems.map(({ rule, level, message }) => `${level}: ${visible(rule)}: ${message}\n`).join("") || "No problems\n");
  return problems.some(({ level }) => level === "error") ? exitCodes.error : exitCodes.success;
}

async function test(args: readonly string[]): Promise<number> {
  const [flag = "", inline] = (args[0] ?? "").split(/=(.*)/s);
  const file = inline ?? args[1];
  const known = flag === "--cases" && file !== undefined && args.length === (inline === undefined ? 2 : 1);
  if (!known) throw new RuntimeError("usage", `permissions test needs --cases FILE.jsonl\n${usage}`);
  let skipped = 0;
  let different = 0;
  const lines: string[] = [];
  for (const one of await loadCases(file)) {
    const verdict: CaseVerdict | undefined = await judgeCase(one);
    if (!verdict) skipped++;
    else lines.push(`${JSON.stringify(verdict)}\n`);
    if (verdict && !isAsExpected(verdict)) different++;
  }
  await print(lines.join(""));
  process.stderr.write(`${lines.length} cases, ${different} different, ${skipped} of other areas skipped\n`);
  return different > 0 ? exitCodes.error : exitCodes.success;
}

async function loadCases(file: string): Promise<PermissionCase[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new RuntimeError("no-input", `${file} cannot be read (${error.code ?? error.message})`);
  });
  return text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, `${file}:${index + 1}`)]));
}

function parseLine(line: string, where: string): PermissionCase {
  try {
    return parseCase(JSON.parse(line));
  } catch (error) {
    throw new RuntimeError("usage", `${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Links followed as far as there is something. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path === dirname(path) ? path : join(await realPath(dirname(path)), basename(path));
  }
}

/** Control characters could rewrite what is shown. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^[^\\]$/, "\ufffd"),
  );
}

async function print(text: string): Promise<number> {
  await new Promise<void>((done) => {
    process.stdout.once("error", () => done()); // nobody reads any more
    process.stdout.write(text, () => done());
  });
  return exitCodes.success;
}
