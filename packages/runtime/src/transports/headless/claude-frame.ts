import { createSpill } from "./spill-folder.ts";
import { type Spill, toWireJson, toWireLine } from "./wire-line.ts";

export type Frame = Record<string, unknown>;

/** Makes the lines of one stream: every frame has the session's id and a name of its own. */
export class ClaudeLines {
  readonly sessionId: string;
  readonly #newId: () => string;
  readonly #spill: Spill | undefined;
  readonly #streamHead: string;

  constructor(options: { readonly sessionId: string; readonly newId: () => string; readonly spillFolder?: string | undefined }) {
    this.sessionId = options.sessionId;
    this.#streamHead = `{"type":"stream_event","session_id":${JSON.stringify(options.sessionId)},"uuid":"`;
    this.#newId = options.newId;
    this.#spill = options.spillFolder === undefined ? undefined : createSpill(options.spillFolder);
  }

  /** `fields` may bring a `uuid` of their own. */
  line(type: string, fields: Frame): string {
    return toWireLine({ type, session_id: this.sessionId, uuid: this.#newId(), ...fields }, this.#spill);
  }

  system(subtype: string, fields: Frame): string {
    return toWireLine({ type: "system", subtype, session_id: this.sessionId, uuid: this.#newId(), ...fields }, this.#spill);
  }

  /** Written piece by piece: there are thousands of these, and all but the event and its id is the same each time. */
  streamEvent(json: string, fields?: object): string {
    const more = fields ? `,${toWireJson(fields).slice(1, -1)}` : "";
    return `${this.#streamHead}${this.#newId()}","event":${json},"parent_tool_use_id":null${more}}\n`;
  }
}
