import { createTextReader, type ReadText } from "../../context/recent-files.ts";
import type { CompactionHooks } from "../../context/run-compaction.ts";
import type { SessionDeps } from "../../engine/deps.ts";
import { toNote } from "../../engine/hook-notes.ts";
import { decide } from "../../permissions/decide.ts";
import { readingOf } from "../../permissions/rules.ts";
import { type UserMessage, userText } from "../../protocol/content.ts";
import type { Emit } from "../../protocol/events.ts";
import type { Redactor } from "../../util/redact.ts";
import { defined } from "../../util/defined.ts";

/** Reads files again for a summary: those that may be read unasked, with their secrets hidden. */
export function toReader(deps: SessionDeps): ReadText {
  return hiding(
    createTextReader(deps.workspace, (path) => mayRead(deps, path)),
    deps.redactor,
  );
}

type Noting = { readonly emit: Emit; readonly signal: AbortSignal; readonly note: (message: UserMessage) => void };

/** The session's hooks, as a compaction asks them. `note`: what the model should be told after it. */
export function toHooks({ hooks, agent, request }: SessionDeps, { note, ...place }: Noting): CompactionHooks | undefined {
  if (!hooks) return undefined;
  return {
    async before({ trigger, focus }) {
      const { decision, stop, context } = await hooks.ask("PreCompact", () => ({ trigger, focus }), place);
      const refused = stop ?? (decision?.effect === "deny" ? decision.reason : undefined);
      return { ...defined({ refused }), ...(context.length > 0 && { focus: context.join("\n\n") }) };
    },
    async after({ trigger, summary }) {
      const start = () => ({ source: "compact", model: request.model });
      const { context } = agent ? { context: [] } : await hooks.ask("SessionStart", start, place);
      for (const text of context) note(userText(toNote("SessionStart", text)));
      await hooks.ask("PostCompact", () => ({ trigger, summary }), place);
    },
  };
}

/** Before it is cut: half a key could not be told from a word. */
function hiding(readText: ReadText, redactor: Redactor): ReadText {
  return async (path) => {
    const text = await readText(path);
    return text === undefined ? undefined : redactor.text(text);
  };
}

/** What a Read call would be allowed to without a question. */
async function mayRead({ policy, workspace }: SessionDeps, resource: string): Promise<boolean> {
  const decision = await decide(policy(), [readingOf(resource)], (path) => workspace.resolve(path));
  return decision.effect === "allow";
}
