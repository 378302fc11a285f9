import { readFile } from "node:fs/promises";
import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { type CaseVerdict, isAsExpected, judgeCase, type PermissionCase, parseCase } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { print } from "../../terminal/visible.ts";

const usage = `Usage:
  outrider permissions explain "Bash(git push)" [--allow PRESET] [--allowedTools RULE…] [--disallowedTools RULE…] [--permission-mode MODE] [--cwd DIR]
                       [--settings FILE|JSON] [--setting-sources LIST] [--trust-project] [--json]
                                          show what would be decided about a call here, by which rule of which file; nothing runs
  outrider permissions lint [RULE…]       find rules that are wrong or wider than they look; by default those in the settings files
  outrider permissions presets [NAME…] [--json]
                                          show the rules behind --allow NAME, or "preset:NAME" in a list of rules
  outrider permissions log [--session ID] [--since DATE] [--denied] [--json]
                                          show the decisions of past runs
  outrider permissions grants [--forget] [--cwd DIR] [--json]
                                          show the answers remembered for the project, or forget them
  outrider permissions test --cases FILE.jsonl
                                          decide each case and compare; exit code 1 if one differs
`;

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  explain: async (args) => (await import("./permission-rules.ts")).explain(args),
  lint: async (args) => (await import("./permission-rules.ts")).lint(args),
  presets: async (args) => (await import("./permission-rules.ts")).showPresets(args),
  log: async (args) => (await import("./permission-records.ts")).showLog(args),
  grants: async (args) => (await import("./permission-records.ts")).showGrants(args),
  test,
};

/** What may be done, asked without doing it, and what was done. */
export async function runPermissions(args: readonly string[]): Promise<number> {
  const [name = "", ...rest] = args;
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action) return await action(rest);
  const guess = nearest(name, Object.keys(actions));
  throw new RuntimeError(
    "usage",
    `permissions has no action ${JSON.stringify(name)}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`,
  );
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
  process.stderr.write(
    `${lines.length} ${lines.length === 1 ? "case" : "cases"}, ${different} different, ${skipped} of other areas skipped\n`,
  );
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
