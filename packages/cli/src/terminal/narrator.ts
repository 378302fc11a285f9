import type { AgentEvent } from "@outrider/runtime";
import type { Paint } from "./paint.ts";
import { terminalText } from "./terminal-text.ts";
import { clip, wrap } from "./text-width.ts";

export type NarratorOptions = {
  readonly paint: Paint;
  /** Asked for each line: a terminal may be made smaller while something runs. */
  readonly columns: () => number;
  /** Also what is the same in every run. */
  readonly verbose: boolean;
};

type Call = { readonly name: string; readonly about: string; readonly input: unknown };

const mostWords = 8;
const mostDiff = 14;
const mostOutput = 3;
const mostTodos = 20;

/** Tells a run in lines for a person: what the model says between its calls, what its calls did, and why something was not permitted. */
export class Narrator {
  readonly #options: NarratorOptions;
  readonly #calls = new Map<string, Call>();
  readonly #running = new Set<string>();
  readonly #tasks = new Map<string, string>();
  #isAnswering = false;

  constructor(options: NarratorOptions) {
    this.#options = options;
  }

  /** What goes on now, in a few words. */
  get activity(): string {
    const [first, ...more] = [...this.#running].flatMap((key) => this.#calls.get(key) ?? []);
    if (!first) return this.#isAnswering ? "answering" : "thinking";
    return more.length === 0 ? `${first.name} ${first.about}`.trim() : `${more.length + 1} tools`;
  }

  /** Whole lines, each within the terminal's width. Nothing a model or a tool wrote in them is obeyed by a terminal. */
  apply(event: AgentEvent): string[] {
    const lines = this.#tell(event);
    const isOwn = event.taskId === undefined || event.type === "task.started" || event.type === "task.ended";
    if (isOwn || lines.length === 0) return lines;
    const name = this.#tasks.size > 1 ? `${this.#tasks.get(event.taskId ?? "") ?? ""}: ` : "";
    return lines.map((line, index) => `${this.#options.paint.dim(`│ ${index === 0 ? name : ""}`)}${line}`);
  }

  #tell(event: AgentEvent): string[] {
    const { paint, verbose } = this.#options;
    switch (event.type) {
      case "session.started":
        return verbose ? [this.#line(`session ${event.sessionId} · ${event.model.id} · ${event.permissionMode}`, paint.dim)] : [];
      case "text.delta":
        if (event.taskId === undefined) this.#isAnswering = true;
        return [];
      case "message.ended":
        return this.#hear(event);
      case "tool.started":
        this.#running.add(keyOf(event));
        this.#calls.set(keyOf(event), toCall(event));
        return [];
      case "tool.ended":
        return this.#tellResult(event);
      case "task.started": {
        const about = oneLine(event.description);
        this.#tasks.set(event.taskId, about);
        return [this.#line(`▸ ${oneLine(event.agent)}: ${about}`, paint.bold)];
      }
      case "task.ended":
        this.#tasks.delete(event.taskId);
        return event.outcome.type === "completed"
          ? []
          : [this.#line(`✗ the subagent did not finish: ${event.outcome.type}`, paint.red)];
      case "retry.scheduled": {
        const wait = Math.ceil(event.delayMs / 1000);
        return [
          this.#line(`… trying again in ${wait} s (${event.attempt}/${event.maxRetries}): ${event.error.message}`, paint.yellow),
        ];
      }
      case "fallback.used":
        return [this.#line(`… asking ${event.to} instead of ${event.from}: ${event.error.message}`, paint.yellow)];
      case "compaction.ended":
        return event.result.type === "compacted"
          ? [
              this.#line(
                `… older messages gave way to a summary (${toCount(event.preTokens)} → ${toCount(event.result.postTokens)} tokens)`,
                paint.dim,
              ),
            ]
          : [];
      case "hook.ended":
        return event.status === "ok" || event.status === "cancelled"
          ? []
          : [this.#line(`! hook ${event.name} (${event.event}): ${event.status} ${event.stderr || event.stdout}`, paint.yellow)];
      case "warning.raised":
        return [this.#line(`! ${event.message}`, paint.yellow)];
      default:
        return [];
    }
  }

  /** Its words stand before its calls. The last answer is not told: it is the output. */
  #hear(event: AgentEvent<"message.ended">): string[] {
    if (event.taskId === undefined) this.#isAnswering = false;
    const words: string[] = [];
    let hasCalls = false;
    for (const part of event.message.content) {
      if (part.type === "text") words.push(part.text);
      if (part.type !== "tool-call") continue;
      hasCalls = true;
      this.#calls.set(keyOf({ ...event, callId: part.callId }), toCall(part));
    }
    const text = words.join("").trim();
    return hasCalls && text !== "" ? this.#block(text, { indent: 0, most: mostWords }) : [];
  }

  #tellResult(event: AgentEvent<"tool.ended">): string[] {
    const { paint } = this.#options;
    const key = keyOf(event);
    const { about = "", input } = this.#calls.get(key) ?? {};
    this.#running.delete(key);
    this.#calls.delete(key);
    const text = event.result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    const head = `${event.name} ${about}`.trim();
    if (event.status === "denied")
      return [this.#line(`⊘ ${head}`, paint.yellow), ...this.#block(text, { indent: 4, most: mostWords, paint: paint.yellow })];
    if (event.status !== "ok") {
      const last = text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .slice(-mostOutput);
      return [this.#line(`✗ ${head}`, paint.red), ...last.map((line) => this.#line(`    ${line}`, paint.dim))];
    }
    const todos = todosIn(input);
    if (todos) return this.#tellTodos(event.name, todos);
    return [this.#line(`✓ ${head}`, paint.green), ...this.#tellDiff(diffsIn(event))];
  }

  #tellDiff(diff: NonNullable<NonNullable<AgentEvent<"tool.ended">["details"]>["diff"]>): string[] {
    const { paint } = this.#options;
    const signs = {
      hunk: ["  ", paint.dim],
      context: ["  ", paint.dim],
      remove: ["- ", paint.red],
      add: ["+ ", paint.green],
    } as const;
    const lines = diff.slice(0, mostDiff).map(({ type, text }) => this.#line(`    ${signs[type][0]}${text}`, signs[type][1]));
    return diff.length > mostDiff ? [...lines, this.#line(`    … ${diff.length - mostDiff} more lines`, paint.dim)] : lines;
  }

  #tellTodos(name: string, todos: readonly Todo[]): string[] {
    const { paint } = this.#options;
    const done = todos.filter(({ status }) => status === "completed").length;
    const lines = todos.slice(0, mostTodos).map(({ content, status }) => {
      if (status === "completed") return this.#line(`    ☑ ${content}`, paint.dim);
      return status === "in_progress" ? this.#line(`    ▶ ${content}`, paint.bold) : this.#line(`    ☐ ${content}`);
    });
    const more = todos.length > mostTodos ? [this.#line(`    … ${todos.length - mostTodos} more`, paint.dim)] : [];
    return [this.#line(`✓ ${name} ${done} of ${todos.length} done`, paint.green), ...lines, ...more];
  }

  #block(text: string, { indent, most, paint }: { indent: number; most: number; paint?: (line: string) => string }): string[] {
    const lines = wrap(terminalText(text).replaceAll("\t", "  "), this.#columns - indent);
    const shown = lines.length > most ? [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`] : lines;
    return shown.map((line) => this.#line(" ".repeat(indent) + line, paint));
  }

  #line(text: string, paint: (line: string) => string = (line) => line): string {
    return paint(clip(oneLine(text, { keepsIndent: true }), this.#columns));
  }

  /** One column less: some terminals begin a new line when the last one is filled. */
  get #columns(): number {
    return Math.max(20, this.#options.columns() - 1 - (this.#tasks.size > 0 ? 2 : 0));
  }
}

type Todo = { readonly content: string; readonly status: string };

/** A list of what is to be done, by its form. */
function todosIn(input: unknown): Todo[] | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const [list] = Object.values(input);
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const todos = list.flatMap((item: unknown) => {
    const content: unknown = typeof item === "object" && item !== null && "content" in item ? item.content : undefined;
    const status: unknown = typeof item === "object" && item !== null && "status" in item ? item.status : undefined;
    return typeof content === "string" && typeof status === "string" ? [{ content, status }] : [];
  });
  return todos.length === list.length ? todos : undefined;
}

const telling = ["file_path", "path", "command", "pattern", "url", "query", "description"];

function toCall({ name, input }: { name: string; input: unknown }): Call {
  return { name, about: aboutOf(input), input };
}

/** The one value of a call that says most about it. */
function aboutOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const record = new Map<string, unknown>(Object.entries(input));
  const key = telling.find((name) => typeof record.get(name) === "string") ?? [...record.keys()][0];
  const value = key === undefined ? "" : record.get(key);
  return oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

/** Providers that number their calls give subagents the same ids. */
function keyOf({ taskId, callId }: { readonly taskId?: string | undefined; readonly callId: string }): string {
  return `${taskId ?? ""} ${callId}`;
}

/** What a model wrote must not move the cursor or rewrite what stands above. */
export function oneLine(text: string, { keepsIndent = false }: { keepsIndent?: boolean } = {}): string {
  const plain = terminalText(text.replace(/[\n\r\t]+/g, " "));
  return keepsIndent ? plain.trimEnd() : plain.trim();
}

export function toCount(count: number): string {
  if (count >= 999_950) return `${(count / 1e6).toFixed(1).replace(".0", "")}M`;
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}

/** Of all files that a call has changed. */
function diffsIn({ details }: AgentEvent<"tool.ended">): NonNullable<NonNullable<AgentEvent<"tool.ended">["details"]>["diff"]> {
  return [details?.diff ?? [], ...(details?.others ?? []).map(({ diff }) => diff)].flat();
}
