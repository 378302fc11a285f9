import { type JsonObject, RuntimeError } from "@outrider/runtime";
import { type RowPlace, parseTask, type TaskDefaults } from "./parse-task.ts";
import type { BatchTask } from "./task.ts";

/** A row of a SWE-bench data set says which issue of which repository is to be mended, and which tests show it. */
export function isSweBenchRow(row: JsonObject): boolean {
  return typeof row["instance_id"] === "string" && typeof row["base_commit"] === "string";
}

/**
 * A row as a task: a checkout of the base commit, the issue as the prompt, and the row's own tests as the check, which no agent sees before.
 * `repo` may be a path; `owner/name` is at GitHub, or below `repositories` of the row. The tests are run by `test_command` of the row, with the
 * tests' names behind it; the patch of the tests is applied first.
 */
export function fromSweBench(row: JsonObject, place: RowPlace, defaults: TaskDefaults = {}): BatchTask {
  const { instance_id: id, base_commit: commit, repo, problem_statement: problem, test_patch: patch } = row;
  if (typeof repo !== "string" || typeof problem !== "string")
    throw new RuntimeError("usage", `${place.where}: a SWE-bench row needs repo and problem_statement`);
  const names = [...namesIn(row["FAIL_TO_PASS"]), ...namesIn(row["PASS_TO_PASS"])];
  const command = typeof row["test_command"] === "string" ? row["test_command"] : "python3 -m pytest -q";
  const { check: _, prompt: template, ...rest } = defaults;
  const task = parseTask(
    {
      id: String(id),
      prompt: template ?? problem,
      git: { repository: repositoryOf(repo), commit: String(commit) },
      labels: { repo, ...(typeof row["version"] === "string" && { version: row["version"] }) },
      ...(template !== undefined && row),
    },
    place,
    rest,
  );
  const apply =
    typeof patch === "string" && patch !== ""
      ? `git apply --whitespace=nowarn - <<'OUTRIDER_PATCH'\n${patch.replace(/\n?$/, "\n")}OUTRIDER_PATCH\n`
      : "";
  const tests = names.map((name) => `'${name.replaceAll("'", "'\\''")}'`).join(" ");
  return { ...task, check: { command: `set -e\n${apply}${command} ${tests}`, sandboxed: true, timeoutMs: 30 * 60_000 } };
}

/** Lists, or lists written as JSON in a text, as the data sets have them. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== "string" || value === "") return [];
  const parsed: unknown = JSON.parse(value);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}

function repositoryOf(repo: string): string {
  return /^[\w.-]+\/[\w.-]+$/.test(repo) ? `https://github.com/${repo}.git` : repo;
}
