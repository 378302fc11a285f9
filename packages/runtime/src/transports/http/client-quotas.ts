import { RuntimeError } from "../../protocol/errors.ts";
import type { Client } from "./client.ts";
import { Counts } from "./counts.ts";

/** How much each client has at work, against how much it may have. Once the server is ending, nobody may begin anything. */
export class ClientQuotas {
  /** By name of a client: sessions that are being begun, and prompts without an outcome. */
  readonly #coming = new Counts();
  readonly #prompts = new Counts();
  #isDraining = false;

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Nothing new; what is at work goes on. */
  drain(): void {
    this.#isDraining = true;
  }

  checkOpen(): void {
    if (this.#isDraining) throw new RuntimeError("closed", "The server is ending", { retryable: true });
  }

  /** Begins a session where the client may have one more beside those that are `open`: those that are being begun count too. */
  async withRoom<T>({ name, limits }: Client, open: () => number, begin: () => Promise<T>): Promise<T> {
    this.checkOpen();
    const { sessions: most } = limits;
    if (most === undefined) return await begin();
    if (open() + this.#coming.of(name) >= most)
      throw new RuntimeError("limit-reached", `${most} sessions of ${name} are open already`, { retryable: true });
    const end = this.#coming.add(name);
    try {
      return await begin();
    } finally {
      end();
    }
  }

  /** One more prompt of this client is at work, whosever session it is for. Throws where it may have no more; answers how to say that it is over. */
  beginPrompt({ name, limits: { prompts: most } }: Client): () => void {
    this.checkOpen();
    if (most !== undefined && this.#prompts.of(name) >= most)
      throw new RuntimeError("limit-reached", `${most} prompts of ${name} are at work already`, { retryable: true });
    return this.#prompts.add(name);
  }
}
