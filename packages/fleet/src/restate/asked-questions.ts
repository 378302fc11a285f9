import type { Question } from "../batch/batch-folder.ts";
import type { RestateApi } from "./restate-api.ts";

export type AskedOptions = {
  readonly api: RestateApi;
  readonly service: string;
  readonly onQuestion: (question: Question) => void;
  readonly warn: (line: string) => void;
};

const lookMs = 1_000;

/** What runs on the engine ask, looked for while there are runs that may. */
export class AskedQuestions {
  readonly #options: AskedOptions;
  readonly #units = new Map<string, string>();
  readonly #told = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AskedOptions) {
    this.#options = options;
  }

  follow(runId: string, unitId: string): () => void {
    this.#units.set(runId, unitId);
    this.#timer ??= setInterval(() => void this.#look().catch((error: unknown) => this.#options.warn(String(error))), lookMs);
    return () => {
      this.#units.delete(runId);
      if (this.#units.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #look(): Promise<void> {
    const { api, service, onQuestion } = this.#options;
    for (const { runId, name, asks } of await api.questions(service)) {
      const id = this.#units.get(runId);
      if (id === undefined || this.#told.has(`${runId} ${name}`)) continue;
      this.#told.add(`${runId} ${name}`);
      const { tool, reason } = Object(asks);
      onQuestion({ id, name, tool: String(tool), reason: String(reason) });
    }
  }
}
