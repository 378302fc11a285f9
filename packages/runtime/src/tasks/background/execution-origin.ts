import type { BackgroundTaskMetadata, BackgroundTaskState } from "../../protocol/background-task.ts";

/** Who had the work begun. For people who look: it permits nothing. */
export type ExecutionOrigin = {
  readonly kind: "user_prompt" | "slash_command" | "model_command" | "tool_call" | "skill" | "transport" | "system";
  readonly sessionId: string;
  readonly turnId?: string | undefined;
  readonly commandName?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly skillId?: string | undefined;
  readonly label?: string | undefined;
};

const originKeys = ["turnId", "commandName", "toolCallId", "skillId", "label"] as const;
const prefix = "origin.";

/** The registry keeps what it is given and reads none of it; an origin is kept there under keys of its own. */
export function originToMetadata({ kind, sessionId, ...more }: ExecutionOrigin): BackgroundTaskMetadata {
  const rest = originKeys.flatMap((key) => (more[key] === undefined ? [] : [[`${prefix}${key}`, more[key]] as const]));
  return { [`${prefix}kind`]: kind, [`${prefix}sessionId`]: sessionId, ...Object.fromEntries(rest) };
}

/** Of a task that somebody else began, the session itself. */
export function originOf({
  metadata = {},
  parentSessionId,
}: Pick<BackgroundTaskState, "metadata" | "parentSessionId">): ExecutionOrigin {
  const text = (key: string): string | undefined => {
    const value = metadata[`${prefix}${key}`];
    return typeof value === "string" ? value : undefined;
  };
  const kind = (text("kind") ?? "system") as ExecutionOrigin["kind"]; // written by `originToMetadata` alone
  const rest = Object.fromEntries(originKeys.flatMap((key) => (text(key) === undefined ? [] : [[key, text(key)]])));
  return { kind, sessionId: text("sessionId") ?? parentSessionId, ...rest };
}
