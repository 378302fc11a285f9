import type { AgentEvent } from "@outrider/runtime";

/** As `GET /v1/client` answers. */
export type Me = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly roots?: readonly string[];
  readonly version: string;
};
export type Rights = { readonly mayDrive: boolean; readonly mayApprove: boolean };

export type ListState = "waiting" | "working" | "completed" | "failed" | "stopped" | "cancelled" | "unfinished" | "new";

/** As `GET /v1/page/sessions` answers. */
export type SessionRow = {
  readonly id: string;
  readonly name?: string;
  readonly cwd: string;
  readonly prompt?: string;
  readonly updatedAt: string;
  readonly state: ListState;
  readonly asks?: string;
};

export type Permission = AgentEvent<"permission.requested">;
export type Interaction = AgentEvent<"interaction.requested">;
export type Question = Permission | Interaction;

export type Waiting = { readonly id: string; readonly text: string; readonly isHeld: boolean };
export type Todo = { readonly content: string; readonly status: "pending" | "in_progress" | "completed" };
export type LiveTask = {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly state: "running" | "ok" | "error" | "stopped" | "queued";
  readonly note?: string | undefined;
  /** It has a log to ask for. */
  readonly hasLog: boolean;
};

export function rightsOf({ scopes }: Me): Rights {
  const has = (scope: string): boolean => scopes.includes(scope) || scopes.includes("admin");
  return { mayDrive: has("drive"), mayApprove: has("approve") };
}
