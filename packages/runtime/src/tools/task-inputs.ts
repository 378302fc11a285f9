import type { Access, ToolMemory } from "./tool.ts";

/** One piece of text for the standard input of a task. */
export type TaskText = { readonly task_id: string; readonly input: string };

type Listener = { readonly command: string; readonly cwd: string | undefined; written: string; admitted?: string | undefined };

/** More than the longest command that is looked at whole: what comes behind it is judged as too long to be understood. */
const keptLength = 100_001;

/**
 * What the living commands of a session read so far. A shell joins the pieces in which it is told something, so a piece is judged as the end of
 * all that was written before, and nothing is written that was not judged like that.
 */
export class TaskInputs {
  readonly #listeners = new Map<string, Listener>();
  /** What had been written when a piece was judged. */
  readonly #judgedAfter = new WeakMap<TaskText, string>();

  begin(taskId: string, { command, cwd }: { readonly command: string; readonly cwd?: string | undefined }): void {
    this.#listeners.set(taskId, { command, cwd, written: "" });
  }

  /** It reads nothing any more, and nothing is kept of it. */
  end(taskId: string): void {
    this.#listeners.delete(taskId);
  }

  /** Of how many commands something is known. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Input is judged as if all of it had come through a pipe when the command was started. */
  accessFor(piece: TaskText): Access {
    const { command, cwd, written } = this.#listeners.get(piece.task_id) ?? unknown();
    this.#judgedAfter.set(piece, written);
    const text = `'${(written + piece.input).replaceAll("'", "'\\''")}'`;
    const resources = [`printf %s ${text} | { ${command}\n}`];
    return { kind: "run", resources, isInput: true, ...(cwd !== undefined && { cwd }) };
  }

  /** Has a judged piece written, once; what is written is known from then on, whatever becomes of it. False where something else was written since it was judged. */
  async write(piece: TaskText, send: () => Promise<void>): Promise<boolean> {
    const listener = this.#listeners.get(piece.task_id) ?? unknown();
    if (this.#judgedAfter.get(piece) !== listener.written) return false;
    this.#judgedAfter.delete(piece);
    listener.written = (listener.written + piece.input).slice(0, keptLength);
    listener.admitted = piece.input;
    const sending = send(); // asks before it waits for anything
    listener.admitted = undefined;
    await sending;
    return true;
  }

  /** Is it being written as it was judged? */
  admits(taskId: string, input: string): boolean {
    return this.#listeners.get(taskId)?.admitted === input;
  }
}

/** No command that is alive: an agent reads each piece by itself, and whoever else is written to refuses it. */
function unknown(): Listener {
  return { command: "bash", cwd: undefined, written: "" };
}

const slot = "tasks.inputs";

/** Those of a session. */
export function taskInputsOf(memory: ToolMemory): TaskInputs {
  return memory.slot(slot, () => new TaskInputs());
}

/** Agents write to the commands of their session: what one of them has written, the others know. */
export function shareTaskInputs(from: ToolMemory, to: ToolMemory): ToolMemory {
  to.slot(slot, () => taskInputsOf(from));
  return to;
}
