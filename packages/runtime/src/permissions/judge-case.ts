import { basename, dirname, resolve as resolvePath } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { isPermissionMode, type PermissionMode } from "../protocol/permission.ts";
import { decide } from "./decide.ts";
import { kindOf } from "./explain.ts";
import type { ListFolder } from "./glob-words.ts";
import type { ProgramFinder } from "./program-finder.ts";
import type { Decision, Policy, ResolvePath } from "./policy.ts";
import { parseRule } from "./rules.ts";
import { messageOf } from "../util/message-of.ts";
import { isRecord } from "../util/is-record.ts";
import { isInside } from "../util/is-inside.ts";

/** One line of a file of security cases: a situation, what happens in it, and what must come of that. */
export type PermissionCase = {
  readonly id: string;
  readonly area: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly input: unknown;
  readonly expected: string;
};

export type CaseVerdict = {
  readonly id: string;
  readonly expected: string;
  readonly got: string;
  readonly rule: string | null;
  readonly reason: string;
};

const home = "/home/user";

export function parseCase(value: unknown): PermissionCase {
  const { id, area, given, input, expected } = isRecord(value) ? value : {};
  if (typeof id !== "string" || typeof area !== "string" || typeof expected !== "string")
    throw new RuntimeError("usage", "A case needs id, area, given, input and expected");
  return { id, area, given: isRecord(given) ? given : {}, input, expected };
}

/** Decided by the real engine; nothing is run and no file is looked at: links are those the case tells of. Undefined for other areas. */
export async function judgeCase(one: PermissionCase): Promise<CaseVerdict | undefined> {
  const { id, expected, area } = one;
  if (area !== "shell-permission" && area !== "path") return undefined;
  const { effect, rule, reason } = await (area === "path" ? judgePath(one) : judgeCommand(one));
  return { id, expected, got: effect, rule: rule ?? null, reason };
}

/** The first word says what must come out; a refusal is an error to whoever asked. */
export function isAsExpected({ expected, got }: CaseVerdict): boolean {
  if (new RegExp(`^${got}\\b`).test(expected)) return true;
  if (/^error\b/.test(expected)) return got === "deny";
  return (
    !/^(?:allow|ask|deny|normalised)\b/.test(expected) &&
    (new RegExp(`\\b${got}\\b`).test(expected) || !/\b(?:allow|ask|deny)\b/.test(expected))
  );
}

type Outcome = Omit<Decision, "effect"> & { readonly effect: string };

async function judgeCommand({ given, input }: PermissionCase): Promise<Outcome> {
  const root = textOf(given["cwd"]) ?? "/repo/proj";
  const shell = textOf(given["shell"]);
  const resource = typeof input === "string" ? input : (textOf(isRecord(input) ? input["command"] : undefined) ?? "");
  return decide(
    { ...policyOf(given, root), listFolder: listLinks(linksOf(given["fs"], root)), programs: systemPrograms },
    [{ tool: "Bash", kind: "run", resource, ...(shell && { shell }) }],
    followLinks(linksOf(given["fs"], root)),
  );
}

async function judgePath({ given, input, expected }: PermissionCase): Promise<Outcome> {
  const root = textOf(given["root"]) ?? "/repo/proj";
  const { tool: toolText, path: pathText, fs, os, race } = isRecord(input) ? input : {};
  const tool = textOf(toolText) ?? "Read";
  const path = (textOf(pathText) ?? "").replace(/ \(.*\)$/, "");
  const added = listOf(given["additional_dirs"]);
  const follow = followLinks([...linksOf(fs, root), ...added.flatMap((text) => linksOf(text, root))]);
  const policy = policyOf({ ...given, os }, root, await Promise.all(added.map((text) => follow(text.replace(/ ->.*/, "")))));
  const kind = kindOf(tool);
  let resource: string;
  try {
    resource = await follow(toPath(path, root));
  } catch (error) {
    return { effect: "error", reason: messageOf(error) };
  }
  if (expected === "normalised") return judgeForms(policy, { tool, kind, resource });
  const decision = await decide(policy, [{ tool, kind, resource }]);
  const swap = /symlink to (\S+)/.exec(String(race))?.[1];
  if (swap && decision.effect === "allow")
    return { effect: "deny", reason: `It leads to ${swap}, which is not the file permission was given for` };
  if (/hard link/.test(String(fs)) && kind === "edit" && decision.effect === "allow")
    return { ...decision, effect: "content replaced by rename" };
  return decision;
}

/** A rule for one Unicode form of a name must hold for the other. */
async function judgeForms(
  policy: Policy,
  action: { tool: string; kind: "look" | "edit" | "run" | "reach" | "note"; resource: string },
): Promise<Outcome> {
  const forms = ["NFC", "NFD"] as const;
  for (const written of forms) {
    const deny = [parseRule(`${action.tool}(/${action.resource.normalize(written)})`)];
    for (const form of forms) {
      const decision = await decide({ ...policy, deny }, [{ ...action, resource: action.resource.normalize(form) }]);
      if (decision.effect !== "deny") return decision;
    }
  }
  return { effect: "normalised", reason: "Both forms of the name meet the same rule" };
}

function policyOf(given: Readonly<Record<string, unknown>>, root: string, readable: readonly string[] = []): Policy {
  const rules = isRecord(given["rules"]) ? given["rules"] : given;
  const os = textOf(given["os"]);
  const toRules = (key: string) => listOf(rules[key]).map((text) => parseRule(text));
  return {
    mode: modeOf(textOf(given["mode"])),
    allow: toRules("allow"),
    ask: toRules("ask"),
    deny: toRules("deny"),
    base: { root, home, ...(os && { platform: os }) },
    readable,
    ...(given["trusted"] !== false && { inertGit: async () => "git" }), // else git obeys the repository
  };
}

function modeOf(text = "default"): PermissionMode {
  const [mode] = text.split("/");
  return isPermissionMode(mode) ? mode : "default";
}

function toPath(path: string, root: string): string {
  if (path === "" || path.includes("\0")) throw new RuntimeError("usage", "It is no path");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) throw new RuntimeError("usage", "A URL is no path");
  return resolvePath(root, path.replace(/^~(?=\/|$)/, home));
}

const systemPrograms: ProgramFinder = { place: async () => "system", isShadowed: async () => false };

/** A project with nothing in it but the links the case tells of. */
function listLinks(links: readonly Link[]): ListFolder {
  return async (folder) =>
    links
      .filter(({ from }) => dirname(from) === resolvePath(folder))
      .map(({ from }) => ({ name: basename(from), kind: "symlink" }));
}

type Link = { readonly from: string; readonly to: string };

/** `a -> b`, as `ls -l` shows it; several with commas. */
function linksOf(fs: unknown, root: string): Link[] {
  return [...(textOf(fs) ?? "").matchAll(/(\S+)\s*->\s*([^\s,;]+)/g)].map(([, from = "", to = ""]) => {
    const place = toPath(from, root);
    return { from: place, to: to.startsWith("~") ? toPath(to, root) : resolvePath(dirname(place), to) };
  });
}

function followLinks(links: readonly Link[]): ResolvePath {
  return async (path) => {
    let current = path;
    for (let steps = 0; steps < 40; steps++) {
      const link = links.find(({ from }) => isInside(from, current));
      if (!link) return current;
      current = resolvePath(link.to + current.slice(link.from.length));
    }
    throw new RuntimeError("usage", `${path} is a circle of links`);
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
