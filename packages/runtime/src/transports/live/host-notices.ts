import type { JsonObject } from "../../protocol/content.ts";
import type { AnsweredPrompts } from "../headless/output-format.ts";
import type { PermissionAnswerer } from "../../hosting/permission-answers.ts";
import type { LivePrompt } from "./live-prompts.ts";

/** Joins the driver of a live run, which knows which messages are answered, with the encoders that write it down. */
export type PromptsView = { look: () => AnsweredPrompts };

type Fate = "queued" | "started" | "completed" | "cancelled";
type State = "running" | "requires_action" | "idle";

export type HostNoticesOptions = {
  readonly send: (frame: JsonObject) => void;
  readonly stamp: () => JsonObject;
  /** What becomes of messages that have names. */
  readonly fates: boolean;
  /** Whether the session works, waits for an answer or has nothing to do. A host that was told of work waits to be told of its end. */
  readonly states: boolean;
};

/** What hosts may want to know beside the conversation: which of their messages is where, and whether anything is going on. */
export class HostNotices {
  readonly #options: HostNoticesOptions;
  #state: State = "idle";
  #questions = 0;

  constructor(options: HostNoticesOptions) {
    this.#options = options;
  }

  tell(fate: Fate, { uuid }: Pick<LivePrompt, "uuid">): void {
    const { send, stamp, fates } = this.#options;
    if (fates && uuid !== undefined) send({ type: "command_lifecycle", command_uuid: uuid, state: fate, ...stamp() });
  }

  changeState(state: State): void {
    if (state === this.#state) return;
    this.#state = state;
    const { send, stamp, states } = this.#options;
    if (states) send({ type: "system", subtype: "session_state_changed", state, sdk_host_only: true, ...stamp() });
  }

  /** While a question is open, nothing goes on without its answer. */
  watch(answerer: PermissionAnswerer): PermissionAnswerer {
    return async (...question) => {
      this.#questions++;
      this.changeState("requires_action");
      try {
        return await answerer(...question);
      } finally {
        this.#questions--;
        if (this.#questions === 0) this.changeState("running");
      }
    };
  }
}
