import type { Client } from "./client.ts";
import type { TokenStore } from "./token-store.ts";

/** A request or a connection that lasts as long as its token counts. */
export interface Lease {
  /** False when the token was taken away, has expired, or is for something else now: then it has been ended. */
  check(): boolean;
  /** It is over by itself. */
  release(): void;
}

type Leased = { readonly client: Client; readonly end: () => void };

/** How long somebody whose token counts no longer may still listen. */
const sweepMs = 2_000;

/** All that is going on for somebody: it ends with the token that it came with. */
export class Leases {
  readonly #tokens: TokenStore;
  readonly #warn: (line: string) => void;
  readonly #leased = new Set<Leased>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(tokens: TokenStore, warn: (line: string) => void) {
    this.#tokens = tokens;
    this.#warn = warn;
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs);
    this.#sweeping.unref();
  }

  /** `end` is called once, and never after `release`. */
  take(client: Client, end: () => void): Lease {
    const leased: Leased = { client, end };
    this.#leased.add(leased);
    return {
      check: () => this.#check(leased, this.#tokens.current()),
      release: () => void this.#leased.delete(leased),
    };
  }

  close(): void {
    clearInterval(this.#sweeping);
    this.#leased.clear();
  }

  #sweep(): void {
    if (this.#leased.size === 0) return;
    try {
      const current = this.#tokens.current();
      for (const leased of [...this.#leased]) this.#check(leased, current);
    } catch (error) {
      // Who may be here is not known: nobody stays.
      this.#warn(`Tokens cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      for (const leased of [...this.#leased]) this.#end(leased);
    }
  }

  #check(leased: Leased, current: ReadonlyMap<string, Client>): boolean {
    const now = current.get(leased.client.digest);
    const isSame = now !== undefined && rightsOf(now) === rightsOf(leased.client);
    if (!isSame) this.#end(leased);
    return isSame;
  }

  #end(leased: Leased): void {
    if (this.#leased.delete(leased)) leased.end();
  }
}

/** All that a token gives, to be compared. */
export function rightsOf({ name, scopes, roots, sessions, of }: Client): string {
  return JSON.stringify([name, [...scopes].sort(), roots, sessions, of]);
}
