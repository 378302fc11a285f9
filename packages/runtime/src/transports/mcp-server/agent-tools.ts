import type { HeldSession } from "../../hosting/session-host.ts";
import type { Answer } from "../../permissions/gate.ts";
import { type JsonObject, textOf } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { defined } from "../../util/defined.ts";
import { isRecord } from "../../util/is-record.ts";
import { AgentRun, type RunNews } from "./agent-run.ts";
import type { McpHost } from "./mcp-host.ts";
import { toElicitation, type Elicitation, toAnswer } from "./permission-elicitation.ts";
import { toolDefinitions, type ToolName } from "./tool-definitions.ts";

/** A call as it came: its input, and what a client that was asked something answers, with the state it was given. */
export type ToolCall = {
  readonly name: string;
  readonly input: JsonObject;
  readonly state?: string | undefined;
  readonly answers?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  /** Can the client ask its user something? */
  readonly canAsk: boolean;
  readonly onProgress: (line: string) => void;
};

export type ToolAnswer =
  | { readonly type: "result"; readonly text: string; readonly structured: JsonObject; readonly isError: boolean }
  | { readonly type: "ask"; readonly questions: Readonly<Record<string, Elicitation>>; readonly state: string };

/** How many runs that have ended are remembered for `status`. */
const rememberedRuns = 200;

/** What a client of the server may do with the agent. One for all connections: runs go on between them. */
export class AgentTools {
  readonly #host: McpHost;
  /** The latest run of each session. */
  readonly #runs = new Map<string, AgentRun>();

  constructor(host: McpHost) {
    this.#host = host;
  }

  /** Never rejects: what goes wrong is for the model of the client to read. */
  async call(call: ToolCall): Promise<ToolAnswer> {
    try {
      return await this.#call(call);
    } catch (error) {
      const { message, hint } = toRuntimeError(error);
      const code = codeOf(error);
      const text = hint === undefined ? message : `${message}. ${hint}`;
      return { type: "result", text, structured: { state: "failed", text: "", error: { code, message } }, isError: true };
    }
  }

  async #call(call: ToolCall): Promise<ToolAnswer> {
    const input = checkInput(call.name, call.input);
    if (call.state !== undefined) return await this.#goOn(call, call.state);
    switch (call.name as ToolName) {
      case "run": {
        const { prompt, cwd, model, readOnly } = input;
        const held = await this.#host.create({ ...defined({ cwd, model, readOnly }) });
        return await this.#begin(await this.#start(held, prompt), call, input.wait);
      }
      case "reply": {
        const held = await this.#host.open(input.sessionId);
        return await this.#begin(await this.#start(held, input.prompt), call, input.wait);
      }
      case "status":
        return await this.#status(call, input);
      case "cancel":
        return await this.#cancel(input.sessionId);
    }
  }

  async #start(held: HeldSession, prompt: string): Promise<AgentRun> {
    return await AgentRun.start(held, prompt, { hearsQuestions: this.#host.mayAnswer ?? true });
  }

  /** Again the same call, now with what the user of the client answered. */
  async #goOn(call: ToolCall, state: string): Promise<ToolAnswer> {
    const run = [...this.#runs.values()].find(({ token }) => token === state);
    if (!run) throw new RuntimeError("not-found", "The run that asked is not known any more; look with the tool status");
    for (const { requestId, rule } of run.questions) {
      const answer = call.answers?.[requestId];
      if (answer !== undefined) run.answer(requestId, this.#bounded(toAnswer(answer, rule)));
    }
    return await this.#follow(run, call);
  }

  #bounded(answer: Answer): Answer {
    const isTooMuch = answer.remember === "project" && this.#host.mayRemember === false;
    return isTooMuch ? { ...answer, remember: "session" } : answer;
  }

  async #begin(run: AgentRun, call: ToolCall, wait = true): Promise<ToolAnswer> {
    this.#remember(run);
    return wait ? await this.#follow(run, call) : running(run);
  }

  async #follow(run: AgentRun, call: ToolCall): Promise<ToolAnswer> {
    for (;;) {
      const news = await run.follow(call);
      if (news.type === "asked" && !call.canAsk) {
        for (const { requestId } of news.questions) run.answer(requestId, cannotAsk);
        continue;
      }
      if (news.type === "left") run.withdraw();
      return toToolAnswer(run, news);
    }
  }

  async #status(call: ToolCall, { sessionId, wait = false }: Input): Promise<ToolAnswer> {
    if (sessionId === "") {
      const sessions = (await this.#host.list()).map(({ id, name, cwd, updatedAt, prompt, turns, state }) => ({
        ...{ sessionId: id, cwd, updatedAt, prompt, turns, state },
        ...defined({ name }),
      }));
      const lines = sessions.slice(0, 50).map((one) => `${one.sessionId} ${one.state} ${one.cwd}: ${one.prompt}`);
      const shown = { state: "listed", text: "", sessions: sessions.slice(0, 50) };
      return { type: "result", text: lines.join("\n") || "There are no sessions.", structured: shown, isError: false };
    }
    const run = this.#runs.get(sessionId);
    if (run && !run.isOver) return wait ? await this.#follow(run, call) : running(run);
    const held = await (this.#host.look?.(sessionId) ?? this.#host.open(sessionId));
    try {
      const last = held.session.getMessages().findLast(({ role }) => role === "assistant");
      const text = last ? textOf(last.content) : "";
      const state = held.session.isExecuting() ? "running" : "idle";
      return { type: "result", text: text || state, structured: { sessionId, state, text }, isError: false };
    } finally {
      held.release();
    }
  }

  async #cancel(sessionId: string): Promise<ToolAnswer> {
    const run = this.#runs.get(sessionId);
    const isRunning = run !== undefined && !run.isOver;
    if (!isRunning && !(await this.#host.list()).some(({ id }) => id === sessionId))
      throw new RuntimeError("not-found", `There is no session ${sessionId}`);
    if (isRunning) run.cancel();
    const text = isRunning ? "It is being ended." : "Nothing runs in this session.";
    return { type: "result", text, structured: { sessionId, state: isRunning ? "cancelled" : "idle", text: "" }, isError: false };
  }

  #remember(run: AgentRun): void {
    this.#runs.delete(run.sessionId);
    this.#runs.set(run.sessionId, run);
    if (this.#runs.size <= rememberedRuns) return;
    const [oldest] = [...this.#runs].find(([, { isOver }]) => isOver) ?? [];
    if (oldest !== undefined) this.#runs.delete(oldest);
  }
}

const cannotAsk: Answer = { decision: "deny", message: "The client cannot ask its user: it offers no elicitation." };

function running(run: AgentRun): ToolAnswer {
  const { sessionId, questions } = run;
  const state = questions.length > 0 ? "waiting" : "running";
  const asked = questions.map(({ toolName, reason }) => `${toolName}: ${reason}`);
  const more = asked.length > 0 ? ` It waits for an answer (${asked.join("; ")}): call status with wait: true.` : "";
  const text = `The session ${sessionId} is at work.${more}`;
  return { type: "result", text, structured: { sessionId, state, text: "" }, isError: false };
}

function toToolAnswer(run: AgentRun, news: RunNews): ToolAnswer {
  const { sessionId } = run;
  if (news.type === "asked") {
    const questions = news.questions.map((question) => [question.requestId, toElicitation(question)]);
    return { type: "ask", questions: Object.fromEntries(questions), state: run.token };
  }
  if (news.type === "left")
    return { type: "result", text: "Cancelled.", structured: { sessionId, state: "cancelled", text: "" }, isError: true };
  const { outcome, usage } = news;
  const reason =
    outcome.type === "failed" ? outcome.error.message : outcome.type === "stopped" ? `Stopped: ${outcome.limit}` : undefined;
  return {
    type: "result",
    text: [outcome.text, reason].filter(Boolean).join("\n\n") || outcome.type,
    structured: {
      ...{ sessionId, state: outcome.type, text: outcome.text },
      ...(usage && { usage: { ...usage } }),
      ...(outcome.type === "failed" && { error: { code: outcome.error.code, message: outcome.error.message } }),
      ...(outcome.type === "stopped" && { limit: outcome.limit }),
    },
    isError: outcome.type === "failed",
  };
}

type Input = {
  readonly prompt: string;
  readonly sessionId: string;
  readonly cwd?: string;
  readonly model?: string;
  readonly readOnly?: boolean;
  readonly wait?: boolean;
};

/** The schema of the tool says what fields there are: texts and flags. */
function checkInput(name: string, given: JsonObject): Input {
  const tool = toolDefinitions.find((definition) => definition.name === name);
  if (!tool) throw new RuntimeError("not-found", `There is no tool ${name}`);
  const { properties, required } = tool.inputSchema;
  for (const field of required)
    if (typeof given[field] !== "string" || given[field] === "") throw new RuntimeError("usage", `${field} is required`);
  const input: Record<string, unknown> = { prompt: "", sessionId: "" };
  for (const [field, value] of Object.entries(given)) {
    const property = isRecord(properties) && Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (!property) throw new RuntimeError("usage", `${name} takes no ${field}`);
    if (typeof value !== property.type) throw new RuntimeError("usage", `${field} must be a ${property.type}`);
    input[field] = value;
  }
  return input as Input; // field by field as its schema says
}

/** A host has codes of its own, such as a server's `forbidden`; what the system throws is none of a client's business. */
function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" && /^[a-z-]+$/.test(code) ? code : "internal";
}
