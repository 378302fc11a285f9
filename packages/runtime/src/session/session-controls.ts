import type { Hook, Hooks } from "../hooks/hook.ts";
import type { PromptPart } from "../context/system-prompt.ts";
import type { Policy } from "../permissions/policy.ts";
import type { PermissionUpdate } from "../permissions/permission-update.ts";
import type { JsonObject, ToolDefinition } from "../protocol/content.ts";
import type { Emit, SessionFacts } from "../protocol/events.ts";
import { checkValue, oneOf, place, text } from "../protocol/kinds.ts";
import { type PermissionMode, permissionModes } from "../protocol/permission.ts";
import { type Effort, efforts } from "../model/model.ts";
import type { Tool, ToolMemory } from "../tools/tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ServerQuestion } from "./answer-elicitation.ts";
import type { FoundFiles } from "./files/find-files.ts";
import type { SeenFile } from "./files/host-files.ts";
import { EditCheckpoints } from "./files/edit-checkpoints.ts";
import type { SessionPolicy } from "./session-policy.ts";
import type { TurnCheckpoints } from "./files/turn-checkpoints.ts";

/** The parts of an open session that may change while it lives. */
export type Controlled = {
  readonly facts: SessionFacts;
  /** Read anew for every model call. */
  readonly request: {
    model: string;
    system?: string;
    thinkingTokens?: number;
    effort?: Effort;
    options?: JsonObject;
    readonly tools: ToolDefinition[];
  };
  readonly tools: Map<string, Tool>;
  /** Of all tools; the mode says which of them a request offers. */
  readonly definitions: ToolDefinition[];
  /** What the system prompt was made of. */
  readonly parts: readonly PromptPart[];
  /** Makes the prompt and the tools of the next request those of the model, the mode and the tools of now. */
  readonly refresh: () => void;
  /** May this tool of a server be offered? */
  readonly offers: (toolName: string) => boolean;
  readonly policy: SessionPolicy;
  /** Makes what everybody is told true again after the mode has changed, and answers what changed. */
  readonly followMode: () => Pick<SessionFacts, "permissionMode" | "places">;
  readonly workspace: Workspace;
  readonly memory: ToolMemory;
  /** Those of now: plugins may bring others. */
  readonly hooks: () => Hooks | undefined;
  /** Absent where no files are kept. */
  readonly checkpoints?: TurnCheckpoints | undefined;
};

/** Changes a host may make between prompts and during one: from the next model call or tool call on they hold, and an event tells them. */
export class SessionControls {
  /** The files of the session, as they were before each turn. */
  readonly checkpoints: EditCheckpoints;
  readonly #session: Controlled;
  readonly #emit: Emit;
  readonly #flush: () => Promise<void>;
  readonly #firstModel: string;
  /** Names of tools of MCP servers, which come and go. */
  #added: Set<string>;

  constructor(session: Controlled, hub: { emit: Emit; flush(): Promise<void> }) {
    this.#session = session;
    this.#emit = (event) => hub.emit(event);
    this.#flush = () => hub.flush();
    this.#firstModel = session.request.model;
    this.checkpoints = new EditCheckpoints(session.checkpoints, this.#emit);
    this.#added = new Set([...session.tools.values()].flatMap(({ name, comesFromServers }) => (comesFromServers ? [name] : [])));
  }

  /** Resolves when the changes so far are on record: they hold when the session is opened again. */
  async store(): Promise<void> {
    await this.#flush();
  }

  get facts(): SessionFacts {
    return this.#session.facts;
  }

  /** The rules and folders that hold now. */
  get policy(): Policy {
    return this.#session.policy.current;
  }

  /** Runs the hooks of the session's beginning, for somebody who wants nothing else of it. */
  async runBeginning(signal: AbortSignal): Promise<void> {
    const hooks = this.#session.hooks();
    const place = { signal, emit: this.#emit };
    await hooks?.ask("Setup", () => ({ trigger: "init" }), place);
    await hooks?.ask("SessionStart", () => ({ source: "startup", model: this.#firstModel }), place);
  }

  /** What the next request begins with: the system prompt, the parts it was made of, and the tools. */
  get prompt(): { readonly system: string; readonly parts: readonly PromptPart[]; readonly tools: readonly ToolDefinition[] } {
    const { parts, request } = this.#session;
    return { system: request.system ?? "", parts, tools: request.tools };
  }

  /** The hooks of now, in the order they run. */
  get hooks(): readonly Hook[] {
    return this.#session.hooks()?.list() ?? [];
  }

  /** What the provider is told beside the usual, for each request anew. */
  get providerOptions(): JsonObject {
    return this.#session.request.options ?? {};
  }

  set providerOptions(options: JsonObject) {
    this.#session.request.options = options;
  }

  /** Another model of the same provider; the one the session began with when absent. */
  setModel(model: string = this.#firstModel): string {
    checkValue("model", model, text);
    const { facts, request } = this.#session;
    request.model = model;
    facts.model = { ...facts.model, id: model };
    this.#session.refresh();
    this.#emit({ type: "session.changed", model: facts.model });
    return model;
  }

  setThinkingTokens(tokens: number | undefined): void {
    if (tokens !== undefined) checkValue("thinkingTokens", tokens, place);
    const { request } = this.#session;
    if (tokens === undefined) delete request.thinkingTokens;
    else request.thinkingTokens = tokens;
  }

  setEffort(effort: Effort | undefined): void {
    if (effort !== undefined) checkValue("effort", effort, oneOf(efforts));
    const { request } = this.#session;
    if (effort === undefined) delete request.effort;
    else request.effort = effort;
  }

  get effort(): Effort | undefined {
    return this.#session.request.effort;
  }

  /** A file for the host to show; only one that the model may read without a question. */
  async readFile(wanted: { path: string; maxBytes: number }): Promise<SeenFile> {
    return await (await import("./files/host-files.ts")).readForHost(this.#session, wanted);
  }

  /** Files for a person to choose from; only those that the model may read without a question. */
  async findFiles(wanted: { query: string; limit: number }): Promise<FoundFiles> {
    return await (await import("./files/find-files.ts")).findFiles(this.#session, wanted);
  }

  /** Lists a folder inside of the session's folders as one of them; answers its real path. */
  async addDirectory(path: string): Promise<string> {
    return await (await import("./files/add-directory.ts")).addDirectory(this.#session, path);
  }

  /** The host knows that the file was read at this time: the model need not read it again before it changes it. */
  async noteRead(seen: { path: string; mtimeMs: number }): Promise<void> {
    await (await import("./files/host-files.ts")).noteRead(this.#session, seen);
  }

  /** What a server asks a person: hooks are heard before and after whoever `ask` reaches. */
  async answerElicitation(question: ServerQuestion): Promise<JsonObject> {
    const { answerElicitation } = await import("./answer-elicitation.ts");
    return await answerElicitation(this.#session.hooks(), question, this.#emit);
  }

  setPermissionMode(mode: PermissionMode): void {
    checkValue("permissionMode", mode, oneOf(permissionModes));
    const { policy, followMode } = this.#session;
    policy.setMode(mode);
    this.#emit({ type: "session.changed", ...followMode() });
  }

  /** Rules, mode and folders as an answer or a host wants them; what was not done as asked is answered. */
  async updatePermissions(update: PermissionUpdate): Promise<readonly string[]> {
    const { facts, policy } = this.#session;
    const notes = await policy.apply(update);
    const { mode } = policy.current;
    if (mode !== facts.permissionMode) this.setPermissionMode(mode);
    return notes;
  }

  /** These tools of MCP servers instead of those there were; tools of other kinds stay. */
  replaceTools(tools: readonly Tool[]): void {
    const { facts, definitions: all, tools: offered, offers } = this.#session;
    for (const name of this.#added) offered.delete(name);
    const fresh = tools.filter((tool) => !offered.has(tool.name) && offers(tool.name));
    for (const tool of fresh) offered.set(tool.name, tool);
    const kept = all.filter(({ name }) => !this.#added.has(name));
    this.#added = new Set(fresh.map(({ name }) => name));
    const definitions = fresh.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    all.splice(0, all.length, ...kept, ...definitions);
    this.#session.refresh();
    this.#emit({ type: "session.changed", tools: facts.tools });
  }
}
