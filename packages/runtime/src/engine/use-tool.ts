import { type ImagePart, type TextPart, textOf } from "../protocol/content.ts";
import type { AgentEvents, EventBody, ToolStatus } from "../protocol/events.ts";
import type { CallDeps, SessionDeps, TurnDeps } from "./deps.ts";
import { ownCall } from "./live-call.ts";
import { RepeatedCalls } from "./repeated-calls.ts";
import { runToolCall } from "./tool-call.ts";

export type UsedTool = {
  readonly status: ToolStatus;
  readonly text: string;
  /** The same, with pictures. */
  readonly content: readonly (TextPart | ImagePart)[];
  /** Whose word a refusal was. */
  readonly by?: AgentEvents["permission.decided"]["by"] | undefined;
  readonly reason?: string | undefined;
};

type OwnDeps = SessionDeps & Pick<TurnDeps, "emit" | "flush" | "signal" | "interrupt" | "keeper" | "tasks">;

/**
 * One call of a tool that the program makes itself, judged, hooked, masked and cut like any of the model's. It is no part of the
 * conversation, so what becomes of it is told by whoever makes it; questions and verdicts are told as always.
 */
export async function useTool(deps: OwnDeps, name: string, input: Readonly<Record<string, unknown>>): Promise<UsedTool> {
  const call = ownCall({ type: "tool-call", callId: deps.newId(), name, input });
  let ended: ToolStatus = "error";
  let verdict: AgentEvents["permission.decided"] | undefined;
  const emit = (event: EventBody): void => {
    if (event.type === "permission.decided") verdict = event;
    if (event.type === "tool.ended") ended = event.status;
    if (!silent.has(event.type)) deps.emit(event);
  };
  const own: CallDeps = {
    ...deps,
    emit,
    repeats: new RepeatedCalls(deps.loops),
    halt: () => {},
    halted: () => undefined,
    followUp: undefined,
  };
  const { content } = await runToolCall(own, call);
  const { by, reason } = verdict?.effect === "deny" ? verdict : {};
  return { status: ended, text: textOf(content.filter((part) => part.type === "text")), content, by, reason };
}

const silent: ReadonlySet<EventBody["type"]> = new Set<EventBody["type"]>(["tool.started", "tool.ended", "tool.progress"]);
