import { type AgentEvent, isEphemeral } from "../../../protocol/events.ts";
import { isEventType } from "../../../hosting/event-names.ts";
import { HttpProblem } from "../problem.ts";
import type { Parameter } from "../route.ts";
import * as schemas from "../schemas.ts";

export const wantedTypes: Parameter = {
  name: "types",
  schema: schemas.text,
  description: "Only events of these types, with commas between them.",
};

/** What a stream says beside events; it is said whatever is wanted, and may be named as well. */
const framesOfStreams: ReadonlySet<string> = new Set(["accepted", "result", "resync", "stream.ended"]);

/** Undefined when all are wanted. */
export function filterOf(query: URLSearchParams): ((event: Pick<AgentEvent, "type">) => boolean) | undefined {
  const types = query.get("types")?.split(",");
  const unknown = types?.find((type) => !isEventType(type) && !framesOfStreams.has(type));
  if (unknown !== undefined) throw new HttpProblem("bad-request", `There are no events of the type ${JSON.stringify(unknown)}`);
  const hasDeltas = query.get("deltas") !== "false";
  if (types === undefined && hasDeltas) return undefined;
  return ({ type }: Pick<AgentEvent, "type">) =>
    (types === undefined || types.includes(type)) && (hasDeltas || !isEphemeral(type));
}
