import type { ReversibleExecutionOptions } from "../../checkpoints/reversible-execution.ts";
import type { SessionDeps } from "../../engine/deps.ts";
import type { FactsOf } from "../../protocol/tool-facts.ts";
import type { SessionOptions } from "../session-options.ts";

/** Judges calls by whether what they do can be undone. */
export async function irreversibleCalls(
  { checkpoints, sandboxClient }: SessionOptions,
  { chosen, factsOf }: { chosen: ReversibleExecutionOptions; factsOf: FactsOf },
): Promise<SessionDeps["irreversible"]> {
  const { evaluateReversibleSafety, isBlockedByReversibility } = await import("../../checkpoints/reversible-execution.ts");
  const options = { ...(sandboxClient && { isolation: "provider-sandbox" as const }), ...chosen };
  return ({ name, input }) => {
    const report = evaluateReversibleSafety({
      ...{ toolName: name, input, options, facts: factsOf(name) },
      checkpointed: checkpoints !== undefined,
    });
    return isBlockedByReversibility(report, options) ? report : undefined;
  };
}
