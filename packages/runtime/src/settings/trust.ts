import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { SettingsLayer } from "./layers.ts";
import type { Executor } from "./trust-executors.ts";
import { differences, takeDigests } from "./trust-digests.ts";
import { type Bounds, defaultBounds, filesNamedIn, listProjectFiles, type ProjectFile, readProjectFile } from "./trust-files.ts";
import { listTrustRecords, readTrustRecord, removeTrustRecord, type TrustRecord, writeTrustRecord } from "./trust-store.ts";
import { isInside } from "../util/is-inside.ts";
import { messageOf } from "../util/message-of.ts";

export type TrustQuestion = {
  readonly outriderHome: string;
  readonly root: string;
  /** All of them; only those of the project are judged. */
  readonly layers: readonly SettingsLayer[];
  /** The environment of the process: never one that a file had a say in. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--trust-project`. */
  readonly flag?: boolean | undefined;
  /** `--setting-sources`: who names the project there has asked for what it holds. */
  readonly sources?: readonly string[] | undefined;
  readonly bounds?: Bounds;
};

export type TrustJudgement = {
  /** The project's hooks, servers, allow rules and so on may be used. */
  readonly trusted: boolean;
  /** Of the project's files, the same on every machine; empty where nobody had to know it. */
  readonly fingerprint: string;
  readonly reason: string;
  /** What runs or loosens something: what is ignored when it is not trusted. */
  readonly executors: readonly Executor[];
};

/** A project as it is now: what it would run or loosen, and digests of all that has a part in it. */
export type ProjectInspection = {
  readonly root: string;
  readonly executors: readonly Executor[];
  readonly fingerprint: string;
  readonly files: TrustRecord["files"];
  /** Why it cannot be trusted by content. */
  readonly problem: string | undefined;
};

/**
 * May what is checked out here run things and loosen rules? Only if somebody said so: on the command line, also by naming
 * the project among the setting sources, in the environment, or once before with `outrider trust`, for exactly this content in this place.
 */
export async function judgeTrust(question: TrustQuestion): Promise<TrustJudgement> {
  const wanted = wantedBy(question.env);
  const root = realPath(question.root);
  const record = storeIsOutside(question, root) ? readTrustRecord(question.outriderHome, root) : undefined;
  if (question.flag === false)
    return {
      trusted: false,
      fingerprint: "",
      reason: "It is not to be trusted here",
      executors: (await lookAround(question, root)).executors,
    };
  const isNamed = question.sources?.includes("project") === true;
  const isAsked = question.flag === true || wanted !== undefined || record !== undefined;
  const found = await lookAround(question, root);
  const { executors } = found;
  const judge = (trusted: boolean, reason: string, fingerprint = ""): TrustJudgement => ({
    trusted,
    fingerprint,
    reason,
    executors,
  });
  if (!isAsked && executors.length === 0 && found.problem === undefined)
    return judge(isNamed, isNamed ? namedBySources : nothingToTrust); // a style or an agent's model runs nothing, and counts then too
  const { fingerprint, problem, files } = takeDigests(found, question.bounds ?? defaultBounds);
  if (question.flag === true) return judge(true, "--trust-project", fingerprint);
  if (wanted === "anything") return judge(true, "OUTRIDER_TRUST_PROJECT=1", fingerprint);
  if (isNamed) return judge(true, namedBySources, fingerprint);
  if (problem !== undefined) return judge(false, problem);
  if (wanted === fingerprint) return judge(true, "OUTRIDER_TRUST_PROJECT has its fingerprint", fingerprint);
  if (record) {
    const changed = differences(record.files, files);
    if (changed.length === 0) return judge(true, `It was trusted on ${record.at.slice(0, 10)}`, fingerprint);
    return judge(false, `It has changed since it was trusted on ${record.at.slice(0, 10)}: ${listed(changed)}`, fingerprint);
  }
  if (wanted !== undefined)
    return judge(false, `OUTRIDER_TRUST_PROJECT has another fingerprint than sha256:${fingerprint}`, fingerprint);
  return judge(false, "Nobody has said to trust it", fingerprint);
}

const namedBySources = "The setting sources of this run name it";
export const nothingToTrust = "The project has nothing that runs or loosens anything";

/** The same look that `judgeTrust` takes, for showing it to a person before `rememberTrust`. */
export async function inspectProject(question: Omit<TrustQuestion, "flag">): Promise<ProjectInspection> {
  const root = realPath(question.root);
  const found = await lookAround(question, root);
  return { root, executors: found.executors, ...takeDigests(found, question.bounds ?? defaultBounds) };
}

/** Keeps a yes to what was shown: content that changed in between is not covered. Answers where it is written. */
export async function rememberTrust(
  inspection: ProjectInspection,
  { outriderHome, env, now = Date.now }: Pick<TrustQuestion, "outriderHome" | "env"> & { now?: () => number },
): Promise<string> {
  const { root, fingerprint, files, problem } = inspection;
  if (problem !== undefined) throw new RuntimeError("config", `${root} cannot be trusted: ${problem}`);
  if (!storeIsOutside({ outriderHome, env }, root))
    throw new RuntimeError("config", `${outriderHome} lies inside the project, which could then trust itself`, {
      hint: "Point OUTRIDER_HOME at a folder outside of it",
    });
  return await writeTrustRecord(outriderHome, { root, fingerprint, at: new Date(now()).toISOString(), files });
}

/** Says whether it was trusted. A project that is gone can be forgotten as well. */
export async function forgetTrust(outriderHome: string, root: string): Promise<boolean> {
  return await removeTrustRecord(outriderHome, realPath(root));
}

export function listTrust(outriderHome: string): readonly TrustRecord[] {
  return listTrustRecords(outriderHome);
}

/** What is left out of an untrusted project, one item per kind: `2 hooks`, `1 MCP server`. */
export function describeIgnored(executors: readonly Executor[]): string[] {
  const counts = new Map<string, number>();
  for (const { kind } of executors) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${names[kind as Executor["kind"]]}${count === 1 ? "" : "s"}`); // keys are kinds
}

const names: Readonly<Record<Executor["kind"], string>> = {
  hook: "hook",
  "mcp-server": "MCP server",
  command: "command",
  environment: "variable",
  "allow-rule": "allow rule",
  mode: "permission mode",
  directory: "additional directory setting",
  provider: "provider setting",
  sandbox: "sandbox setting",
  plugin: "plugin setting",
  skill: "skill permission",
  setting: "setting",
};

/** `1` is every content; else one content. */
function wantedBy(env: TrustQuestion["env"]): string | undefined {
  const text = env["OUTRIDER_TRUST_PROJECT"]?.trim() ?? "";
  if (text === "" || text === "0") return undefined;
  if (text === "1") return "anything";
  const fingerprint = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase();
  if (fingerprint !== undefined) return fingerprint;
  throw new RuntimeError("config", `OUTRIDER_TRUST_PROJECT cannot be ${JSON.stringify(text.slice(0, 80))}`, {
    hint: "It is 1 for whatever is checked out, or sha256:… as outrider trust --show prints it",
  });
}

/** Trust that is kept inside the project could be delivered with it. The home folder is its own project. */
function storeIsOutside({ outriderHome, env }: Pick<TrustQuestion, "outriderHome" | "env">, root: string): boolean {
  return root === homeOf(env) || !isInside(root, resolve(realPath(outriderHome)));
}

type Surroundings = {
  readonly executors: readonly Executor[];
  readonly files: readonly ProjectFile[];
  readonly problem: string | undefined;
};

/** Everything but digests: a few looks at the file system in an ordinary project. */
async function lookAround(question: Omit<TrustQuestion, "flag">, root: string): Promise<Surroundings> {
  const bounds = question.bounds ?? defaultBounds;
  const executors: Executor[] = [];
  let files: ProjectFile[] = [];
  let problem: string | undefined;
  try {
    files = listProjectFiles(root, foldersOf(question, root), bounds);
    if (files.length > 0) {
      const { executorsInSettings, readExecutors } = await import("./trust-executors.ts");
      executors.push(...executorsInSettings(question.layers));
      const found = readExecutors(files, (path) => readProjectFile(path, bounds.bytes).bytes.toString("utf8"));
      executors.push(...found.executors);
      const known = new Set(files.map(({ name }) => name));
      const scripts = new Set(found.commands.flatMap((text) => filesNamedIn(text, root)).filter((name) => !known.has(name)));
      files = [...files, ...listProjectFiles(root, [...scripts], bounds)];
    }
  } catch (error) {
    problem = messageOf(error);
  }
  return { executors, files, problem };
}

/** The user's own folders are no part of a project, also when the run starts in the home folder. */
function foldersOf({ outriderHome, env }: Pick<TrustQuestion, "outriderHome" | "env">, root: string): string[] {
  const own = [realPath(outriderHome), ...(root === homeOf(env) ? [`${root}/.claude`] : [])];
  return [".agents", ".claude", ".mcp.json", ".outrider"].filter((name) => !own.includes(realPath(`${root}/${name}`)));
}

function listed(items: readonly string[]): string {
  const shown = items.slice(0, 5).join(", ");
  return items.length > 5 ? `${shown} and ${items.length - 5} more` : shown;
}

function homeOf(env: TrustQuestion["env"]): string {
  return realPath(env["HOME"] || homedir());
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
