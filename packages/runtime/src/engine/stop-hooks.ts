import type { Outcome } from "../protocol/outcome.ts";
import { toNote } from "./hook-notes.ts";
import type { SessionDeps, TurnDeps } from "./deps.ts";

type StopDeps = Pick<SessionDeps, "hooks" | "agent" | "maxObjections"> & Pick<TurnDeps, "signal" | "emit">;

/** How often hooks may send the model back to work in one turn. */
const usualObjections = 8;

/** Asks at the end of a turn whether it is the end. An objection is what the model is told to go on with. */
export class StopHooks {
  readonly #deps: StopDeps;
  #objections = 0;
  /** One of them said that nothing is to come after the answer. */
  #ended = false;

  constructor(deps: StopDeps) {
    this.#deps = deps;
  }

  /** The answer that no hook objects to. */
  mark<T extends Outcome & { type: "completed" }>(outcome: T): T {
    return this.#ended ? { ...outcome, endedByHook: true } : outcome;
  }

  /** Undefined when the turn may end. An answer in a demanded form is final: hooks hear of it and cannot replace it. */
  async objection(outcome: Outcome & { type: "completed" }): Promise<string | undefined> {
    const { hooks, agent, signal, emit, maxObjections = usualObjections } = this.#deps;
    if (!hooks) return undefined;
    const stop = { text: outcome.text, isAgain: this.#objections > 0 };
    const event = agent ? "SubagentStop" : "Stop";
    const verdict = agent
      ? await hooks.ask("SubagentStop", () => ({ ...stop, agent }), { signal, emit })
      : await hooks.ask("Stop", () => stop, { signal, emit });
    const objection = verdict.decision?.effect === "deny" ? [verdict.decision.reason] : [];
    const words = [...objection, ...verdict.context].join("\n");
    this.#ended ||= verdict.stop !== undefined;
    if (words === "" || verdict.stop !== undefined) return undefined;
    const warn = (message: string): void => emit({ type: "warning.raised", message });
    if (outcome.structured !== undefined) {
      warn(`A ${event} hook wanted the model to go on, but its structured answer is final: ${words}`);
      return undefined;
    }
    if (this.#objections >= maxObjections) {
      warn(`A ${event} hook sent the model back ${maxObjections} times; the turn ends although it would do so again`);
      return undefined;
    }
    this.#objections++;
    return toNote(event, words);
  }
}

/** What a subagent's beginning adds to its input; a text in `stop` ends it before it begins. */
export async function startSubagent(deps: StopDeps): Promise<{ notes: string[]; stop: string | undefined }> {
  const { hooks, agent, signal, emit } = deps;
  if (!agent || !hooks) return { notes: [], stop: undefined };
  const verdict = await hooks.ask("SubagentStart", () => ({ agent }), { signal, emit });
  const refused = verdict.decision?.effect === "deny" ? verdict.decision.reason : undefined;
  return { notes: verdict.context.map((text) => toNote("SubagentStart", text)), stop: verdict.stop ?? refused };
}
