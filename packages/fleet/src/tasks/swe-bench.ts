import { existsSync } from "node:fs";
import { join } from "node:path";
import { type JsonObject, RuntimeError } from "@outrider/runtime";
import { type RowPlace, parseTask, type TaskDefaults } from "./parse-task.ts";
import type { BatchTask } from "./task.ts";

/** A row of a SWE-bench data set says which issue of which repository is to be mended, and which tests show it. */
export function isSweBenchRow(row: JsonObject): boolean {
  return typeof row["instance_id"] === "string" && typeof row["base_commit"] === "string";
}

/**
 * A row as a task: a checkout of the base commit, the issue as the prompt, and the row's own tests as the check, which no agent sees before.
 * `repo` may be a path; `owner/name` is at GitHub, unless there is such a folder beside the file. The tests are run by `test_command` of the row,
 * with the tests' names behind it; the patch of the tests is applied first, to files as they were: what the agent has written there gives way.
 */
export function fromSweBench(row: JsonObject, place: RowPlace, defaults: TaskDefaults = {}): BatchTask {
  const { instance_id: id, base_commit: commit, repo, problem_statement: problem, test_patch: patch } = row;
  if (typeof repo !== "string" || typeof problem !== "string")
    throw new RuntimeError("usage", `${place.where}: a SWE-bench row needs repo and problem_statement`);
  const names = ["FAIL_TO_PASS", "PASS_TO_PASS"].flatMap((field) => namesIn(row[field], `${place.where}: ${field}`));
  const command = typeof row["test_command"] === "string" ? row["test_command"] : "python3 -m pytest -q";
  const { check: _, prompt: template, ...rest } = defaults;
  const task = parseTask(
    {
      id: String(id),
      prompt: template ?? "issue", // its own words are no template
      git: { repository: repositoryOf(repo, place.folder), commit: String(commit) },
      labels: { repo, ...(typeof row["version"] === "string" && { version: row["version"] }) },
      ...(template !== undefined && row),
    },
    place,
    rest,
  );
  const apply =
    typeof patch === "string" && patch !== ""
      ? `${asTheyWere(patch, String(commit))}git apply --whitespace=nowarn - <<'OUTRIDER_PATCH'\n${patch.replace(/\n?$/, "\n")}OUTRIDER_PATCH\n`
      : "";
  const tests = names.map(quoted).join(" ");
  const prompt = template === undefined ? problem : task.prompt;
  return { ...task, prompt, check: { command: `set -e\n${apply}${command} ${tests}`, sandboxed: true, timeoutMs: 30 * 60_000 } };
}

/** The files of a patch at the commit that it is made for; those that it makes are not there. */
function asTheyWere(patch: string, commit: string): string {
  const names = [...patch.matchAll(/^(?:--- a|\+\+\+ b|rename from |rename to )\/?(.+?)\t?$/gm)].map(([, name = ""]) =>
    quoted(name),
  );
  const at = quoted(commit);
  return [...new Set(names)].map((name) => `git checkout -q ${at} -- ${name} 2>/dev/null || rm -f -- ${name}\n`).join("");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Lists, or lists written in a text, as the data sets have them: as JSON, or as Python prints them. */
function namesIn(value: unknown, where: string): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (value === undefined || value === null || value === "") return [];
  const names = typeof value === "string" ? (jsonList(value) ?? pythonList(value)) : undefined;
  if (names) return names;
  throw new RuntimeError("usage", `${where} must be a list of names, not ${JSON.stringify(value).slice(0, 80)}`);
}

function jsonList(text: string): string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.map(String) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined when anything but texts and commas is in it. */
function pythonList(text: string): string[] | undefined {
  const names: string[] = [];
  const rest = text.replace(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/gs, (_, single?: string, double?: string) => {
    names.push((single ?? double ?? "").replaceAll(/\\(.)/gs, (__, sign: string) => escapes[sign] ?? sign));
    return "";
  });
  return /^\s*[[(][\s,]*[\])]\s*$/.test(rest) ? names : undefined;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

function repositoryOf(repo: string, folder: string): string {
  return /^[\w.-]+\/[\w.-]+$/.test(repo) && !existsSync(join(folder, repo)) ? `https://github.com/${repo}.git` : repo;
}
