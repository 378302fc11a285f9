import { toRunId } from "../../tasks/background/run-id.ts";
import type { SubagentRunner } from "../../tasks/subagents/subagent-contract.ts";
import type { TaskEnd } from "../../tasks/task.ts";
import { runHostedAgent } from "./hosted-agent.ts";
import { runSubagent } from "./run-subagent.ts";
import type { SubagentOptions, SubagentRun } from "./subagents.ts";

/** One runner per session, made when its first agent is to work. */
const runners = new WeakMap<SubagentOptions, SubagentRunner>();

/** One run of a subagent, by this process or by a runner of the program. */
export async function runAgent(
  run: Omit<SubagentRun, "runId"> & { readonly runId?: string | undefined },
  options: SubagentOptions,
): Promise<TaskEnd> {
  const { runId = toRunId(options.now(), run.place.deps.newId()) } = run;
  if (!options.runner) return await runSubagent({ ...run, runId }, options);
  const runner = runners.get(options) ?? options.runner();
  runners.set(options, runner);
  return await runHostedAgent({ ...run, runId }, runner, options.sessionId);
}
