import { HttpProblem } from "./problem.ts";

/** What a token lets its holder do. `admin` is everything, and everybody's sessions. */
export type Scope = "view" | "drive" | "approve" | "admin";

export const scopes: readonly Scope[] = ["view", "drive", "approve", "admin"];

export type ClientLimits = {
  /** How many of its sessions may be open at once. */
  readonly sessions?: number | undefined;
  /** How many of its prompts may be at work or wait at once. */
  readonly prompts?: number | undefined;
  /** How many requests it may make in a minute. */
  readonly requestsPerMinute?: number | undefined;
};

/** Who a token stands for. */
export type Client = {
  readonly name: string;
  /** A digest of its token: by that it is known whether the token still counts. Shown to nobody. */
  readonly digest: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Folders in which its sessions may work; those of the server when absent. */
  readonly roots?: readonly string[] | undefined;
  /** It sees these and no others; a share has them. */
  readonly sessions?: readonly string[] | undefined;
  /** It also sees the sessions that were begun with tokens of these names. */
  readonly of?: readonly string[] | undefined;
  readonly limits: ClientLimits;
};

/** Who may drive or approve may look. */
export function may(client: Client, scope: Scope): boolean {
  const { scopes: own } = client;
  return own.has(scope) || own.has("admin") || (scope === "view" && own.size > 0);
}

/** An answer that does more than say yes or no: changing a call is giving the session work, and a rule for the project outlives it. */
export function checkAnswer(client: Client, { remember, updatedInput }: { remember?: unknown; updatedInput?: unknown }): void {
  if (remember === "project" && !may(client, "admin"))
    throw new HttpProblem("forbidden", "An answer is remembered for the project only with the scope admin");
  if (updatedInput !== undefined && !may(client, "drive"))
    throw new HttpProblem("forbidden", "A call is changed only with the scope drive; allow it as it is, or deny it");
}
