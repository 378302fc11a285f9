import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { BatchSettings, Rate, TaskDefaults } from "@outrider/fleet";
import { isPermissionMode, permissionModes, RuntimeError } from "@outrider/runtime";
import { duration, positiveInteger, positiveNumber } from "../../flags/numbers.ts";
import type { OwnFlags, OwnWords } from "../../flags/words.ts";

export const batchFlags: OwnFlags = {
  switches: ["--help", "-h", "--resume", "--fail-fast", "--bare", "--keep-workspaces", "--report", "--quiet", "--json", "--deny"],
  values: [
    ...["--out", "--concurrency", "--processes", "--max-budget", "--rpm", "--tpm", "--retry"],
    ...["--engine", "--ingress", "--admin", "--store", "--service", "--tenant"],
    ...["--prompt", "--model", "--provider", "--cwd", "--git", "--tools", "--allowedTools", "--disallowedTools"],
    ...["--permission-mode", "--check", "--repetitions", "--max-turns", "--deadline", "--task-budget"],
  ],
};

/** What holds for the whole batch. */
export function settingsOf(words: OwnWords): BatchSettings {
  const concurrency = words.value("--concurrency");
  return {
    concurrency:
      concurrency === undefined || concurrency === "auto" ? concurrency : positiveInteger("--concurrency", concurrency),
    processes: given(words, "--processes", positiveInteger),
    maxBudgetUsd: given(words, "--max-budget", positiveNumber),
    failFast: words.has("--fail-fast") || undefined,
    retries: retriesOf(words.values("--retry")),
    rates: ratesOf(words),
    bare: words.has("--bare") || undefined,
    keepWorkspaces: words.has("--keep-workspaces") || undefined,
  };
}

/** What holds for tasks that say nothing else. */
export function defaultsOf(words: OwnWords): TaskDefaults {
  const models = words.values("--model");
  const mode = words.value("--permission-mode");
  if (mode !== undefined && !isPermissionMode(mode))
    throw new RuntimeError("usage", `--permission-mode is one of ${permissionModes.join(", ")}, not ${mode}`);
  const check = words.value("--check");
  const [, repository, commit = "HEAD"] = /^(.*?)(?:#([^#]+))?$/.exec(words.value("--git") ?? "") ?? [];
  const all: TaskDefaults = {
    prompt: words.value("--prompt"),
    ...(models.length > 1 ? { models } : { model: models[0] }),
    provider: words.value("--provider"),
    cwd: words.value("--cwd"),
    git: repository ? { repository: existsSync(repository) ? resolve(repository) : repository, commit } : undefined,
    tools: listOf(words.value("--tools")),
    allowedTools: listOf(words.value("--allowedTools")),
    disallowedTools: listOf(words.value("--disallowedTools")),
    permissionMode: mode,
    check: check === undefined ? undefined : { command: check },
    repetitions: given(words, "--repetitions", positiveInteger),
    maxTurns: given(words, "--max-turns", positiveInteger),
    deadlineMs: given(words, "--deadline", duration),
    maxBudgetUsd: given(words, "--task-budget", positiveNumber),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function given<T>(words: OwnWords, flag: string, parse: (flag: string, text: string) => T): T | undefined {
  const text = words.value(flag);
  return text === undefined ? undefined : parse(flag, text);
}

/** Commas inside the brackets of a rule belong to it. */
function listOf(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(/[,\s]+(?![^(]*\))/)
    .map((word) => word.trim())
    .filter(Boolean);
}

function retriesOf(given: readonly string[]): Record<string, number> | undefined {
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const [, kind, count] = /^([a-z-]+)=(\d{1,3})$/.exec(text) ?? [];
      if (kind === undefined) throw new RuntimeError("usage", `--retry is KIND=N, such as check=1, not ${text}`);
      return [kind, Number(count)];
    }),
  );
}

export function ratesOf(words: OwnWords): Record<string, Rate> | undefined {
  const rates: Record<string, Rate> = {};
  for (const [flag, kind] of [
    ["--rpm", "requests"],
    ["--tpm", "tokens"],
  ] as const) {
    for (const text of words.values(flag)) {
      const [, provider = "*", count = ""] = /^(?:([\w.-]+)=)?(.*)$/.exec(text) ?? [];
      rates[provider] = { ...rates[provider], [kind]: positiveInteger(flag, count) };
    }
  }
  return Object.keys(rates).length === 0 ? undefined : rates;
}
