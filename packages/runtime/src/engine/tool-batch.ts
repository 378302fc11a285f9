import type { ToolResultPart } from "../protocol/content.ts";
import type { Masked } from "../util/masked.ts";
import type { LiveCall } from "./live-call.ts";
import type { CallDeps } from "./deps.ts";

const maxParallel = 8;

type RunOne = (deps: CallDeps, call: LiveCall) => Promise<Masked<ToolResultPart>>;

/** Runs the calls of one message. Neighbours whose tools say so run side by side; results come back in the order of the calls. */
export async function runToolCalls(
  deps: CallDeps,
  calls: readonly LiveCall[],
  runOne: RunOne,
): Promise<Masked<ToolResultPart>[]> {
  const results: Masked<ToolResultPart>[] = [];
  for (const group of groupNeighbours(deps, calls)) {
    results.push(...(await Promise.all(group.map((call) => runOne(deps, call)))));
  }
  return results;
}

function groupNeighbours(deps: CallDeps, calls: readonly LiveCall[]): LiveCall[][] {
  const groups: { calls: LiveCall[]; concurrent: boolean }[] = [];
  for (const call of calls) {
    const concurrent = deps.tools.get(call.name)?.concurrent ?? false;
    const group = groups.at(-1);
    if (group?.concurrent && concurrent && group.calls.length < maxParallel) group.calls.push(call);
    else groups.push({ calls: [call], concurrent });
  }
  return groups.map((group) => group.calls);
}
