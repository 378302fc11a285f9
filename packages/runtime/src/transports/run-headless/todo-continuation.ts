import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { callsOf, type Message } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { fieldIn } from "./runnable-agent.ts";
import { builtinFacts } from "../../tools/builtin/facts.ts";

export type TodoItem = {
  id?: string;
  content: string;
  status: "pending" | "in_progress" | "completed" | "cancelled";
  priority?: "high" | "medium" | "low";
  description?: string;
};

export type TodoReminder = { hasReminder: boolean; message: string | null };

export type TodoConfig = {
  /** Lists are in `<todoDir>/<sessionId>.json`. */
  readonly todoDir?: string;
  readonly sessionId?: string;
  /** A session of ours instead: the list its TodoWrite tool was last given. */
  readonly session?: { getMessages(): Message[] };
  readonly userMessageTemplate?: (todos: readonly TodoItem[]) => string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** Lists that nobody has touched for a day are of another run. */
const staleMs = 24 * 60 * 60 * 1000;

/** What an agent said it would do and has not done yet, and the words to remind it of that. */
export class TodoContinuation {
  readonly #config: TodoConfig;
  readonly #sessionId: () => string | undefined;

  /** The id may come from a session manager instead of the configuration. */
  constructor(config: TodoConfig, sessionManager?: { getId(): string }) {
    if (Object(config).todoDir === undefined && !Object(config).session)
      throw new RuntimeError("usage", "TodoContinuation needs todoDir, or a session to ask");
    this.#config = config;
    this.#sessionId = () => config.sessionId ?? sessionManager?.getId();
  }

  async getReminder(): Promise<TodoReminder> {
    const todos = await this.getIncompleteTodos();
    return todos.length === 0 ? { hasReminder: false, message: null } : { hasReminder: true, message: this.#toMessage(todos) };
  }

  /** Empty where there is no list, or none that can be read. */
  async getIncompleteTodos(): Promise<TodoItem[]> {
    const todos = this.#config.session ? latestTodos(this.#config.session.getMessages()) : await this.#readFile();
    return todos.filter(({ status }) => status === "pending" || status === "in_progress");
  }

  async buildContinuationUserMessage(): Promise<string | null> {
    return (await this.getReminder()).message;
  }

  #toMessage(todos: readonly TodoItem[]): string {
    if (this.#config.userMessageTemplate) return this.#config.userMessageTemplate(todos);
    const lines = todos.map(({ content, status }) => `- [${status === "in_progress" ? "in progress" : "pending"}] ${content}`);
    const count = todos.length === 1 ? "1 task is" : `${todos.length} tasks are`;
    return `${count} not done yet:\n${lines.join("\n")}\n\nGo on with them. Mark each one as completed when it is, or as cancelled if it is no longer wanted.`;
  }

  async #readFile(): Promise<TodoItem[]> {
    const sessionId = this.#sessionId();
    if (sessionId === undefined || !/^[\w.-]+$/.test(sessionId)) return [];
    try {
      const list: unknown = JSON.parse(await readFile(join(this.#config.todoDir ?? "", `${sessionId}.json`), "utf8"));
      const updated = new Date(String(fieldIn(list, "updatedAt"))).getTime();
      const isStale = (this.#config.now ?? Date.now)() - updated > staleMs; // never for a list without a date
      return isStale ? [] : todosIn(fieldIn(list, "todos"));
    } catch {
      return []; // not written yet, or being written
    }
  }
}

/** What the list was last said to be. */
function latestTodos(messages: readonly Message[]): TodoItem[] {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? callsOf(message) : []));
  const plans = calls.flatMap(({ name, input }) => {
    const field = builtinFacts(name)?.fields?.plan;
    return field === undefined ? [] : [fieldIn(input, field)];
  });
  return todosIn(plans.at(-1));
}

function todosIn(value: unknown): TodoItem[] {
  return Array.isArray(value) ? value.filter((item): item is TodoItem => typeof fieldIn(item, "content") === "string") : [];
}
