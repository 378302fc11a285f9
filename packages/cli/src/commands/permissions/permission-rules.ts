import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  type Decision,
  isPermissionMode,
  type Policy,
  parseRule,
  type Rule,
  RuntimeError,
  type SessionOptions,
} from "@outrider/runtime";
import { createGrants, resolveLayers, sandboxOptions, surroundingsOf } from "@outrider/runtime/host";
import {
  boxReach,
  createProgramFinder,
  explainPermission,
  type FolderEntry,
  lintRule,
  type RuleProblem,
} from "@outrider/runtime/admin";
import { parseArguments } from "../../flags/args.ts";
import { checkTools } from "../../request/check-tools.ts";
import { exitCodes } from "../../exit-codes.ts";
import type { FlagValues } from "../../flags/flags.ts";
import { lookAtProject, type Project } from "../../request/project.ts";
import { print, visible } from "../../terminal/visible.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";

const projectFlags = { switches: ["--trust-project", "--json"], values: ["--cwd", "--settings", "--setting-sources"] };

/** The decision about one call, made as a run here would make it. */
export async function explain(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, projectFlags);
  const { flags, positionals } = parseArguments(words.rest);
  const [call, ...more] = positionals;
  if (call === undefined || more.length > 0)
    throw new RuntimeError("usage", 'permissions explain takes one call, like "Bash(git push)"; see outrider permissions --help');
  const project = await projectOf(words);
  const { policy, sandbox } = await policyOf(project, flags);
  const { home, cwd } = project;
  const decision = await explainPermission(call, policy, async (path) =>
    realPath(path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(cwd, path)),
  );
  const { effect, reason, rule, source, programs, changes, doubt } = decision;
  const { trusted, reason: why, executors } = project.trust;
  const trust = executors.length > 0 ? `${trusted ? "trusted" : "not trusted"} (${why})` : undefined;
  const boxes = policy.mode === "sandboxed" && effect === "allow" && decision.by === undefined ? "require" : sandbox.mode;
  const place = programs && effect !== "deny" ? placeOf(decision, boxes) : undefined;
  const told = { ...decision, ...(place && { place: place.type }), mode: policy.mode, trusted };
  if (words.has("--json")) return await say(`${JSON.stringify(told, null, 2)}\n`);
  const lines = [
    ["decision", effect],
    ["reason", reason],
    [effect === "ask" ? "would be allowed by" : "rule", rule],
    ["written in", source],
    ["runs", programs?.join(" · ")],
    ["changes", changes?.join(" · ")],
    ["place", place?.words],
    ["not understood", doubt],
    ["project", trust],
  ];
  return await say(lines.flatMap(([name, value]) => (value ? [`${name}: ${visible(value)}\n`] : [])).join(""));
}

/** Where a command would run, as `--sandbox` and what lets it run decide. */
function placeOf({ effect, by = "mode" }: Decision, sandbox: "auto" | "require" | "off"): { type: string; words: string } {
  if (sandbox === "require") return { type: "box", words: "the sandbox" };
  if (sandbox === "auto" && effect === "allow" && by === "mode")
    return { type: "box", words: "the sandbox; outside where there is none" };
  return { type: "outside", words: effect === "allow" ? "outside, as the user" : "outside, as the user, once somebody says yes" };
}

async function projectOf(words: OwnWords): Promise<Project> {
  return await lookAtProject({
    cwd: words.value("--cwd"),
    settings: words.value("--settings"),
    settingSources: words.value("--setting-sources"),
    trustProject: words.has("--trust-project"),
  });
}

type Ground = { readonly policy: Policy; readonly sandbox: NonNullable<SessionOptions["sandbox"]> };

async function policyOf(project: Project, flags: FlagValues): Promise<Ground> {
  const { cwd, root, home, layers, trust } = project;
  const resolved = await resolveLayers(layers, { trusted: trust.trusted });
  checkTools(flags);
  const { permissions } = resolved.settings;
  const mode = flags["permission-mode"] ?? permissions.defaultMode;
  const toRules = (texts: readonly string[] | undefined, source: string): Rule[] =>
    (texts ?? []).map((text) => parseRule(text, source));
  const written = (rules: readonly { text: string; source: string }[]): Rule[] =>
    rules.map(({ text, source }) => parseRule(text, source));
  const grants = createGrants({ root, directory: join(project.outriderHome, "grants"), home });
  const sandboxMode = flags.sandbox as "auto" | "require" | "off" | undefined; // its choices are the modes
  const sandbox = sandboxOptions({ sandboxMode }, resolved, surroundingsOf());
  const policy: Policy = {
    mode: isPermissionMode(mode) ? mode : "default",
    ...(sandbox.mode !== "off" && { box: async () => boxReach(sandbox) }),
    allow: [...toRules(flags.allowedTools, "--allowedTools"), ...written(permissions.allow), ...grants.rules()],
    ask: written(permissions.ask),
    deny: [...toRules(flags.disallowedTools, "--disallowedTools"), ...written(permissions.deny)],
    base: { root: cwd, home, platform: process.platform },
    directories: permissions.additionalDirectories.map((path) => resolve(cwd, path)),
    readable: [],
    environment: new Set(Object.keys(process.env)),
    listFolder: async (folder) => listFolder(folder),
    programs: createProgramFinder({
      path: process.env["PATH"],
      roots: [cwd, ...permissions.additionalDirectories.map((path) => resolve(cwd, path))],
      isFile: async (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
      resolve: async (path) => realpathSync(path),
    }),
    networkReads: permissions.networkReads || Boolean(flags["allow-network-reads"]),
    inertGit: async () => "git", // a run makes it when it first needs it
  };
  return { policy, sandbox };
}

function listFolder(folder: string): FolderEntry[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  } catch {
    return undefined; // nothing is known about what cannot be listed
  }
}

function kindOf(entry: Dirent): FolderEntry["kind"] {
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : "other";
}

/** Rules that were given, or all there are in the settings files. */
export async function lint(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, projectFlags);
  const given = words.rest.map((text) => ({ text, allowing: true, place: "" }));
  const rules = given.length > 0 ? given : rulesIn(await projectOf(words));
  const denied = new Map(rules.flatMap(({ text, allowing, place }) => (allowing ? [] : [[text, place] as const])));
  const problems = rules.flatMap(({ text, allowing, place }) => {
    const over = allowing ? denied.get(text) : undefined;
    const found: RuleProblem[] = lintRule(text, allowing);
    const all =
      over === undefined ? found : [...found, { level: "warning" as const, message: `It never counts: ${over} says otherwise` }];
    return all.map((problem) => ({ rule: text, place, ...problem }));
  });
  if (words.has("--json")) await print(`${JSON.stringify(problems, null, 2)}\n`);
  else if (problems.length === 0) await print(`No problems${given.length > 0 ? "" : ` in ${rules.length} rules`}\n`);
  for (const { rule, place, level, message } of words.has("--json") ? [] : problems)
    await print(`${visible(`${place && `${place}: `}${level}: ${rule}: ${message}`)}\n`);
  return problems.some(({ level }) => level === "error") ? exitCodes.error : exitCodes.success;
}

type WrittenRule = { readonly text: string; readonly allowing: boolean; readonly place: string };

/** Also those of a project that is not trusted: people want to know before they trust it. */
function rulesIn({ layers }: Project): WrittenRule[] {
  return layers.flatMap(({ values, path, lineOf }) =>
    ["allow", "ask", "deny"].flatMap((list) => {
      const { permissions } = values;
      const rules =
        typeof permissions === "object" && permissions !== null && !Array.isArray(permissions) ? permissions[list] : undefined;
      return (Array.isArray(rules) ? rules : []).map((rule, at) => {
        const line = lineOf(["permissions", list, at]);
        const text = typeof rule === "string" ? rule : JSON.stringify(rule);
        return { text, allowing: list === "allow", place: line === undefined ? path : `${path}:${line}` };
      });
    }),
  );
}

/** Links followed as far as there is something. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path === dirname(path) ? path : join(await realPath(dirname(path)), basename(path));
  }
}

async function say(text: string): Promise<number> {
  await print(text);
  return exitCodes.success;
}
