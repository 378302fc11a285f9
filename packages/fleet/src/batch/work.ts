import { RuntimeError } from "@outrider/runtime";
import { claimProcess } from "@outrider/runtime/host";
import { toKeptFailure } from "../durable/durable.ts";
import type { Governor } from "../limits/governor.ts";
import { type Executor, openExecutor } from "./executor.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** The life of a worker process: runs what it is sent, asks before each request, and ends with the process that started it. */
export function work(): void {
  claimProcess();
  let executor: Promise<Executor> | undefined;
  const governor = new AskingGovernor();
  // A signal from the terminal comes to the whole group: the process that has the batch says what is to be done.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit(1));
  process.on("message", (value) => {
    const message = value as ToWorker; // only the process that started us writes here
    switch (message.type) {
      case "open": {
        const { settings, around } = message;
        const warn = (line: string): void => send({ type: "warning", line });
        executor = openExecutor({
          settings,
          around,
          governor,
          warn,
          onQuestion: (question) => send({ type: "question", question }),
        });
        executor.catch(() => {}); // every run tells it
        return;
      }
      case "run":
        return void run(executor, message);
      case "cancel":
        return void executor?.then((open) => open.cancel(message.input)).catch(() => {});
      case "admitted":
        return governor.admitted(message);
      case "close":
        return void Promise.resolve(executor)
          .then((open) => open?.close())
          .finally(() => process.exit(0));
    }
  });
}

async function run(executor: Promise<Executor> | undefined, { id, input }: Extract<ToWorker, { type: "run" }>): Promise<void> {
  try {
    const open = await executor;
    if (!open) throw new Error("A worker is opened first");
    send({ type: "done", id, result: await open.run(input) });
  } catch (error) {
    send({ type: "failed", id, failure: toKeptFailure(error) });
  }
}

function send(message: FromWorker): void {
  process.send?.(message, undefined, undefined, () => {}); // without anybody there, `disconnect` ends us
}

/** Asks the process that has the batch. */
class AskingGovernor implements Governor {
  readonly #asked = new Map<number, { resolve: () => void; reject: (error: unknown) => void }>();
  #ids = 0;

  async admit(...[request, signal]: Parameters<Governor["admit"]>): Promise<void> {
    signal.throwIfAborted();
    const id = ++this.#ids;
    await new Promise<void>((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      send({ type: "admit", id, request });
    }).finally(() => this.#asked.delete(id));
  }

  admitted({ id, refusal }: Extract<ToWorker, { type: "admitted" }>): void {
    const asked = this.#asked.get(id);
    if (refusal) asked?.reject(new RuntimeError("limit-reached", refusal.message));
    else asked?.resolve();
  }

  ended(request: Parameters<Governor["ended"]>[0]): void {
    send({ type: "ended", request });
  }

  throttled(provider: string, waitMs: number): void {
    send({ type: "throttled", provider, waitMs });
  }
}
