import type { SessionStore } from "../journal/store.ts";
import type { Provider } from "../model/model.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { SettingSource } from "../settings/layers.ts";
import type { SandboxOptions } from "../workspace/sandbox.ts";

/** What somebody asks of a session, whichever front end they use. What is absent comes from settings files and from the folder. */
export type SessionRequest = {
  /** The folder to work in; the process's own when absent. */
  readonly cwd?: string | undefined;
  /** Work in a git worktree of its own, not in the user's checkout: under this name, or `true` for a new one. */
  readonly worktree?: true | string | undefined;
  /** Whom to ask: a provider, the name of one, or of a profile of the settings. */
  readonly provider?: Provider | string | undefined;
  readonly model?: string | undefined;
  /** Who is asked when the provider stays overloaded or out of reach. */
  readonly fallbackModel?: string | undefined;
  readonly recording?: RecordingRequest | undefined;
  /** Which conversation it is; a new one when absent. */
  readonly session?: SessionChoice | ChooseSession | undefined;
  /**
   * Of these, what a stored session was changed to while it was open holds over what is said here. Where nothing is said here of the
   * permission mode, the stricter of that and of the settings holds in any case.
   */
  readonly keepsChanges?: readonly KeptChange[] | undefined;
  /**
   * `true` keeps a journal in the user's own folder, `false` keeps nothing of the session on disk. When absent, the journal is where
   * `options.sessionStore` says, and checkpoints and the audit log are in the user's folder.
   */
  readonly persistent?: boolean | undefined;

  /** Nothing that was written down for the folder or the user counts: no settings, instructions, agents, skills, hooks, servers and installed plugins. */
  readonly bare?: boolean | undefined;
  /** What to leave out of what is usually read. */
  readonly without?: readonly LoadedPart[] | undefined;
  /** Whose settings files, instructions, agents and skills count; all when absent. */
  readonly settingSources?: readonly SettingSource[] | undefined;
  /** Settings over those of all files: a file, or JSON. */
  readonly settings?: string | undefined;
  /** What messages call these settings; `settings` when absent. */
  readonly settingsName?: string | undefined;
  /** The project's own hooks, servers, variables and allow rules count. */
  readonly trustProject?: boolean | undefined;
  /** How much is boxed, over what settings say. */
  readonly sandboxMode?: SandboxOptions["mode"] | undefined;

  /** Names of variables of the process that no program, hook or server gets. */
  readonly hiddenVariables?: readonly string[] | undefined;

  /** MCP servers as configuration files have them, each with where it was written. */
  readonly mcpServers?: readonly { readonly value: unknown; readonly source: string }[] | undefined;
  /** A server that does not connect makes the session impossible. */
  readonly requireServers?: boolean | undefined;
  readonly serverTimeouts?: { readonly connectMs?: number | undefined; readonly callMs?: number | undefined } | undefined;

  /** Folders of bundles in Claude Code's layout, or folders of such folders. Whoever names one wants what it runs. */
  readonly plugins?: readonly NamedPlugin[] | undefined;

  /** Be one of the agents: its prompt, tools and model are those of the conversation. */
  readonly mainAgent?: string | undefined;
  /** The MCP tool that decides what would be asked. */
  readonly permissionTool?: string | undefined;

  /** What holds for the session whatever files say. Rules, agents and folders are added to theirs, everything else takes its place. */
  readonly options?: Partial<Omit<SessionOptions, "cwd" | "provider" | "model" | "worktree">> | undefined;
};

/** As the Agent SDK names it. */
export type NamedPlugin = {
  readonly type?: "local" | undefined;
  /** A folder or an archive. */
  readonly path: string;
  /** The path is the address of an archive. */
  readonly isAddress?: boolean | undefined;
  /** Its MCP servers do not count. */
  readonly skipMcpDiscovery?: boolean | undefined;
};

/** What is read from the folder and the user's home, unless somebody leaves it out. */
export type LoadedPart = "instructions" | "agents" | "skills" | "hooks" | "servers" | "plugins";

/** Answers come from a file, or are written to one. */
export type RecordingRequest =
  | { readonly type: "replay"; readonly source: string; readonly lenient: boolean }
  | { readonly type: "record"; readonly path: string };

/** What a session may be changed to while it is open, and goes on with when it is opened again. */
export type KeptChange = "permissionMode" | "model";

/** Which conversation a session is. */
export type SessionChoice =
  /** `seed` fills the empty journal with what it begins with. */
  | { readonly type: "new"; readonly id?: string | undefined; readonly seed?: SeedSession | undefined }
  /** Goes on with a stored one, from its end or from an earlier event. */
  | { readonly type: "resume"; readonly id: string; readonly at?: number | undefined }
  /** Goes on in a copy of a stored one. */
  | {
      readonly type: "fork";
      readonly from: string;
      readonly id: string;
      readonly at?: number | undefined;
      readonly name?: string | undefined;
    };

export type SeedSession = (store: SessionStore, id: string) => Promise<void>;

/** For a choice that needs a look into the store; there is none where nothing is stored. */
export type ChooseSession = (store: SessionStore | undefined, cwd: string) => Promise<SessionChoice>;
