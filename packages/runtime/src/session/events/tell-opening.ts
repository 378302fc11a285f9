import type { Emit } from "../../protocol/events.ts";
import type { OpenSession } from "../create-session.ts";
import type { SessionOptions } from "../session-options.ts";

export type Opening = {
  readonly options: SessionOptions;
  /** The name it has. */
  readonly name: string | undefined;
  readonly emit: Emit;
};

/** Puts on record that the session was opened: how, with what, and what a person should know of that. */
export function tellOpening(session: OpenSession, { options, name, emit }: Opening): void {
  const { journal, facts, system, toolDefinitions } = session;
  const { sessionName, ignoredSettings, resumeAt } = options;
  if (resumeAt !== undefined) emit({ type: "session.rewound", to: resumeAt });
  emit({ type: "session.started", ...facts, journalVersion: 2, resumed: journal.events.length > 0, system, toolDefinitions });
  if (sessionName !== undefined && sessionName !== name) emit({ type: "session.named", name: sessionName });
  if (ignoredSettings) emit({ type: "settings.ignored", items: [...ignoredSettings.items], hint: ignoredSettings.hint });
  for (const message of [...journal.warnings, ...session.warnings]) emit({ type: "warning.raised", message });
  session.onWarning((message) => emit({ type: "warning.raised", message }));
}
