import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";

/**
 * A start says all that a session works with: the system prompt, every tool. Who resumes a session again and again mostly starts it with the
 * same, so that only the first start is stored whole. A later one names an earlier one that it is `like`, and has the fields that differ.
 */
type ShortStart = Envelope & { readonly like: number; readonly without?: readonly string[] };
type Start = AgentEvent<"session.started">;
type Envelope = Pick<Start, "seq" | "at" | "sessionId" | "type" | "resumed" | "cwd"> & { readonly journalVersion: number };

/** Logs with such starts cannot be read by versions that do not know them. */
export const shortStartVersion = 3;

/** Every start has these of its own. */
const own: ReadonlySet<string> = new Set([
  "seq",
  "at",
  "sessionId",
  "turnId",
  "taskId",
  "type",
  "journalVersion",
  "resumed",
  "cwd",
]);
/** What only the start itself says. */
const notInherited: ReadonlySet<string> = new Set(["forkedFrom"]);

/** `like`: the number of the start that is whole, or that differs from one. */
export type KnownStart = { readonly like: number; readonly event: Start };

/** The event as it is stored. */
export function shortenStart(event: AgentEvent, known: KnownStart | undefined): AgentEvent | ShortStart {
  if (event.type !== "session.started" || !known) return event;
  const { seq, at, sessionId, type, resumed, cwd } = event;
  const before = inherited(known.event);
  const facts = new Map(Object.entries(event).filter(([name, value]) => !own.has(name) && value !== undefined));
  const without = Object.keys(before).filter((name) => !facts.has(name));
  const changed = [...facts].filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
  const head: Envelope = { seq, at, sessionId, type, journalVersion: shortStartVersion, resumed, cwd };
  const short = { ...head, like: known.like, ...(without.length > 0 && { without }), ...Object.fromEntries(changed) };
  return JSON.stringify(short).length < JSON.stringify(event).length ? short : event;
}

/** The number of the start that a stored one is like, unless it is whole. */
export function likeOf(stored: AgentEvent): number | undefined {
  return "like" in stored && typeof stored.like === "number" ? stored.like : undefined;
}

/** True for a start that has nothing of its own to say: who comes later is like the same one. */
export function isMereRepetition(stored: AgentEvent): boolean {
  return likeOf(stored) !== undefined && Object.keys(stored).every((name) => own.has(name) || name === "like");
}

/** The start as it was when it was emitted. */
export function restoreStart(stored: Start, base: AgentEvent | undefined): AgentEvent {
  if (base?.type !== "session.started")
    throw new RuntimeError("storage-failed", `The journal of ${stored.sessionId} names a start that it does not hold`, {
      hint: "Restore the file from a copy",
    });
  const { like: _, without = [], ...rest }: Partial<ShortStart> = stored; // `likeOf` has told that it is one
  const before = Object.entries(inherited(base)).filter(([name]) => !without.includes(name));
  const { journalVersion } = base;
  return Object.assign({}, rest, Object.fromEntries(before), rest, { journalVersion }) as AgentEvent; // as it was taken apart
}

function inherited(start: Start): Record<string, unknown> {
  return Object.fromEntries(Object.entries(start).filter(([name]) => !own.has(name) && !notInherited.has(name)));
}
