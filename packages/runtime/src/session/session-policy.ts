import { resolve } from "node:path";
import type { GrantScope, Grants } from "../permissions/grants.ts";
import type { PermissionUpdate, PolicyState } from "../permissions/permission-update.ts";
import type { ProgramFinder } from "../permissions/program-finder.ts";
import type { Policy } from "../permissions/policy.ts";
import { type Action, anchorRule, parseRule, type Rule } from "../permissions/rules.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { carefulVariables } from "../workspace/environment.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A rule as somebody wrote it, and where. */
export type WrittenRule = { readonly text: string; readonly source: string };

/** What settings files and the user's own folder have to say about permissions. */
export type PermissionOptions = {
  readonly allow?: readonly WrittenRule[] | undefined;
  readonly ask?: readonly WrittenRule[] | undefined;
  readonly deny?: readonly WrittenRule[] | undefined;
  /** Where relative paths in these rules start; the working directory when absent. */
  readonly root?: string | undefined;
  /** Where the work would be done without a worktree: what is forbidden or asked about is so in this folder too. */
  readonly otherRoot?: string | undefined;
  /** Folders beside the working directory that belong to the work. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** Files that hooks, servers or helpers of the session run outside of any box: only a rule written for one opens it to changes. */
  readonly runOutside?: readonly string[] | undefined;
  /** Commands that only ask others on the network, such as `gh pr view`, need no question. */
  readonly networkReads?: boolean | undefined;
  /** Answers that were to be remembered. */
  readonly grants?: Grants | undefined;
  /** The session may change to `bypassPermissions` later. It may always start with it. */
  readonly mayBypass?: boolean | undefined;
};

export type Given = {
  readonly mode: PermissionMode;
  readonly allowedTools: readonly string[] | undefined;
  readonly disallowedTools: readonly string[] | undefined;
  readonly permissions: PermissionOptions | undefined;
  readonly workspace: Workspace;
  /** What commands find in their environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly home: string | undefined;
  /** Folders beside the project that may be read: what the session keeps there itself. */
  readonly readable: readonly string[];
  /** What commands in the box can reach; absent where there is none. */
  readonly box?: Policy["box"];
};

/** The rules and the mode of one session, which answers and the host may change while it runs. */
export class SessionPolicy {
  #fixed: Pick<
    Policy,
    "base" | "inertGit" | "box" | "environment" | "withheld" | "listFolder" | "readText" | "programs" | "networkReads"
  >;
  readonly #grants: Grants | undefined;
  readonly #workspace: Workspace;
  /** Folders beside that of the workspace whose programs are not the user's. */
  readonly #roots: readonly string[];
  #state: PolicyState;

  /** With the links in folders followed, as in everything they are compared with. */
  static async load(given: Given): Promise<SessionPolicy> {
    const { workspace, home, permissions, readable } = given;
    // What cannot be followed leads nowhere, and nothing will be found there.
    const real = async (path: string): Promise<string> => await workspace.resolve(path).catch(() => path);
    const named = (permissions?.additionalDirectories ?? []).map((path) => expandHome(workspace.root, path, home));
    const additionalDirectories = await Promise.all(named.map(real));
    return new SessionPolicy({
      ...given,
      permissions: { ...permissions, additionalDirectories },
      readable: await Promise.all(readable.map(real)),
    });
  }

  constructor({ mode, allowedTools, disallowedTools, permissions = {}, workspace, env, home, readable, box }: Given) {
    const { root } = workspace;
    const anchored = (rules: readonly WrittenRule[] = [], at = permissions.root ?? root): Rule[] =>
      rules.map(({ text, source }) => anchorRule(parseRule(text, source), at));
    const inBoth = (rules: readonly WrittenRule[] | undefined): Rule[] => [
      ...anchored(rules),
      ...(permissions.otherRoot === undefined ? [] : anchored(rules, permissions.otherRoot)),
    ];
    this.#workspace = workspace;
    this.#grants = permissions.grants;
    this.#roots = permissions.additionalDirectories ?? [];
    this.#fixed = {
      base: { root, home, platform: process.platform, ...(permissions.runOutside && { runOutside: permissions.runOutside }) },
      box,
      ...groundOf(workspace, { env, roots: this.#roots }),
      ...variablesOf(env),
      networkReads: permissions.networkReads,
    };
    this.#state = {
      mode,
      allow: [...toRules(allowedTools, "allowedTools"), ...anchored(permissions.allow)],
      ask: inBoth(permissions.ask),
      deny: [...toRules(disallowedTools, "disallowedTools"), ...inBoth(permissions.deny)],
      directories: permissions.additionalDirectories ?? [],
      readable,
      mayBypass: mode === "bypassPermissions" || (permissions.mayBypass ?? false),
    };
  }

  get current(): Policy {
    const { mayBypass: _, ...state } = this.#state;
    const remembered = this.#grants?.rules() ?? [];
    return { ...this.#fixed, ...state, ...(remembered.length > 0 && { allow: [...state.allow, ...remembered] }) };
  }

  /** Commands have these variables from now on: other programs may be found, and more names mean something to them. */
  followVariables(env: Given["env"]): void {
    const programs = findIn(this.#workspace, [this.#workspace.root, ...this.#roots], env["PATH"]);
    this.#fixed = { ...this.#fixed, ...variablesOf(env), programs };
  }

  setMode(mode: PermissionMode): void {
    if (mode === "bypassPermissions" && !this.#state.mayBypass)
      throw new RuntimeError("usage", "The session was not started with permission to bypass permissions", {
        hint: "Start it in that mode, or so that it may change to it (permissions.mayBypass, --allow-dangerously-skip-permissions)",
      });
    if (mode === "sandboxed" && !this.#fixed.box) throw new RuntimeError("usage", noBox);
    this.#state = { ...this.#state, mode };
  }

  /**
   * Keeps a yes for exactly these actions, and answers what it covers: where a tool does not say what a call is about, every call of it.
   */
  async remember(actions: readonly Action[], scope: GrantScope): Promise<readonly string[]> {
    const { grantFor } = await import("../permissions/grants.ts");
    const covered: string[] = [];
    for (const action of actions) {
      const exact = grantFor(action, this.#fixed.base);
      const rule = exact ?? parseRule(action.tool);
      if (this.#grants) this.#grants.remember(rule, scope);
      else this.#state = { ...this.#state, allow: [...this.#state.allow, rule] };
      covered.push(exact ? rule.text : `every call of ${action.tool}`);
    }
    return covered;
  }

  /** Answers what was not done as asked, and why. */
  async apply(update: PermissionUpdate): Promise<readonly string[]> {
    const { applyPermissionUpdate } = await import("../permissions/permission-update.ts");
    if (update.type === "setMode" && update.mode === "sandboxed" && !this.#fixed.box) return [noBox];
    const resolved = "directories" in update ? { ...update, directories: await this.#real(update.directories) } : update;
    const { state, remember, notes } = applyPermissionUpdate(this.#state, resolved);
    this.#state = state;
    for (const rule of remember) this.#grants?.remember(rule, "project");
    return notes;
  }

  async #real(paths: readonly string[]): Promise<string[]> {
    return await Promise.all(paths.map((path) => this.#workspace.resolve(path)));
  }
}

/** What a policy knows of the machine. `roots`: folders beside that of the workspace whose programs are not the user's. */
export function groundOf(
  workspace: Workspace,
  { env, roots }: { env: Given["env"]; roots: readonly string[] },
): Pick<Policy, "inertGit" | "listFolder" | "readText" | "programs"> {
  return {
    inertGit: onFirstCall(async () => (await import("../workspace/inert-git.ts")).installInertGit(workspace)),
    listFolder: (folder) => workspace.readDirectory(folder).catch(() => undefined),
    readText: async (file) => Buffer.from(await workspace.readFile(file, { maxBytes: 100_000 })).toString(),
    programs: findIn(workspace, [workspace.root, ...roots], env["PATH"]),
  };
}

const noBox = "Mode sandboxed needs a sandbox, and this session has none";

function toRules(texts: readonly string[] | undefined, source: string): Rule[] {
  return (texts ?? []).map((text) => parseRule(text, source));
}

function expandHome(root: string, path: string, home: string | undefined): string {
  if (home !== undefined && (path === "~" || path.startsWith("~/"))) return resolve(home, path.slice(2));
  return resolve(root, path);
}

function onFirstCall<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** Loaded when a command is judged for the first time. */
function findIn(workspace: Workspace, roots: readonly string[], path: string | undefined): ProgramFinder {
  const isFile = async (file: string): Promise<boolean> => (await workspace.stat(file).catch(() => undefined))?.kind === "file";
  const load = async (): Promise<ProgramFinder> =>
    (await import("../permissions/program-finder.ts")).createProgramFinder({
      path,
      roots,
      isFile,
      resolve: (file) => workspace.resolve(file),
    });
  let finder: Promise<ProgramFinder> | undefined;
  const get = (): Promise<ProgramFinder> => (finder ??= load());
  return {
    place: async (name) => (await get()).place(name),
    found: async (name) => (await get()).found?.(name),
    isShadowed: async (name, changed) => (await get()).isShadowed(name, changed),
  };
}

function variablesOf(env: Given["env"]): Pick<Policy, "environment" | "withheld"> {
  const careful = carefulVariables(env);
  return { environment: new Set(Object.keys(env)), withheld: () => careful().withheld };
}
