import type { Content, Extra, Step, SubagentRef, Trajectory } from "../atif.ts";
import { defined } from "../../../util/defined.ts";

/** A trajectory in the words of version 1.4, and those of its subagents, which that version keeps in files of their own. */
export type DownLevel = { readonly trajectory: Trajectory; readonly subagents: ReadonlyMap<string, Trajectory> };

/** What version 1.4 has no field for moves into the nearest `extra`: nothing is lost. `pathOf` names the file of a subagent. */
export function toVersion14(trajectory: Trajectory, pathOf: (trajectoryId: string) => string): DownLevel {
  const { subagent_trajectories: embedded = [], trajectory_id: id, agent, steps, ...rest } = trajectory;
  const { tool_definitions: tools, ...agentRest } = agent;
  const sessionId = trajectory.session_id ?? id ?? "unknown";
  const own: Trajectory = {
    ...rest,
    schema_version: "ATIF-v1.4",
    session_id: sessionId,
    agent: { ...agentRest, ...(tools && { extra: { ...agent.extra, tool_definitions: tools } }) },
    steps: steps.map((step) => toStep14(step, sessionId, pathOf)),
    ...(id !== undefined && { extra: { ...rest.extra, trajectory_id: id } }),
  };
  const children = embedded.flatMap((child): [string, Trajectory][] => {
    const lowered = toVersion14(child, pathOf);
    return [[child.trajectory_id ?? "", lowered.trajectory], ...lowered.subagents];
  });
  return { trajectory: own, subagents: new Map(children) };
}

function toStep14(step: Step, sessionId: string, pathOf: (trajectoryId: string) => string): Step {
  const { is_copied_context: copied, llm_call_count: calls, message, tool_calls: toolCalls, observation, extra, ...rest } = step;
  const aboutCalls = collect(toolCalls?.map((call) => [call.tool_call_id, call.extra] as const));
  const aboutResults = collect(observation?.results.map((result) => [result.source_call_id ?? "", result.extra] as const));
  const moved: Extra = {
    ...extra,
    ...defined({ is_copied_context: copied, llm_call_count: calls }),
    ...(aboutCalls && { tool_calls: aboutCalls }),
    ...defined({ observation: aboutResults }),
  };
  return {
    ...rest,
    message: toText(message),
    ...(toolCalls && { tool_calls: toolCalls.map(({ extra: _, ...call }) => call) }),
    ...(observation && {
      observation: {
        results: observation.results.map(({ extra: _, content, subagent_trajectory_ref: refs, ...result }) => ({
          ...result,
          ...(content !== undefined && { content: toText(content) }),
          ...(refs && { subagent_trajectory_ref: refs.map((ref) => toRef14(ref, sessionId, pathOf)) }),
        })),
      },
    }),
    ...(Object.keys(moved).length > 0 && { extra: moved }),
  };
}

function collect(entries: readonly (readonly [string, Extra | undefined])[] | undefined): Extra | undefined {
  const filled = (entries ?? []).filter(([, extra]) => extra && Object.keys(extra).length > 0);
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}

function toRef14(ref: SubagentRef, sessionId: string, pathOf: (trajectoryId: string) => string): SubagentRef {
  const path = ref.trajectory_path ?? (ref.trajectory_id === undefined ? undefined : pathOf(ref.trajectory_id));
  return { session_id: ref.session_id ?? sessionId, ...defined({ trajectory_path: path }) };
}

function toText(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}: ${part.source.path}]`)).join("\n");
}
