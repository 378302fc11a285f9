import { type AgentEvent, RuntimeError, type SessionStore } from "@outrider/runtime";
import type { SessionSummary } from "@outrider/runtime/admin";
import { eventUuid, frameUuid, nearest } from "@outrider/runtime/host";
import { visible } from "./visible.ts";

/** The shortest beginning of an id that stands for the whole. */
const shortestPrefix = 8;

/**
 * The id a person means: a whole id, else a name (in this spelling, else in any), else the beginning of an id.
 * Several sessions of one name are listed instead of guessed at.
 */
export async function findSession(store: SessionStore, word: string): Promise<string> {
  const ids = await store.list();
  if (ids.includes(word)) return word; // without a look into the logs
  const summaries = await store.summaries();
  const lower = word.toLowerCase();
  const tries = [
    summaries.filter(({ name }) => name === word),
    summaries.filter(({ name }) => name?.toLowerCase() === lower),
    word.length < shortestPrefix ? [] : summaries.filter(({ id }) => id.startsWith(word)),
  ];
  const [found, ...others] = tries.find((matches) => matches.length > 0) ?? [];
  if (!found) throw unknown(word, summaries);
  if (others.length > 0) throw ambiguous(word, [found, ...others]);
  return found.id;
}

/** The one that was written to last among those that worked in this folder and have been asked something. */
export async function latestSession(store: SessionStore, cwd: string): Promise<string> {
  const summaries = await store.summaries();
  const latest = summaries.find((summary) => summary.cwd === cwd && summary.turns > 0);
  if (latest) return latest.id;
  throw new RuntimeError("not-found", `No conversation found to continue in ${cwd}`, {
    hint:
      summaries.length === 0
        ? "No session is stored yet: start one without --continue"
        : "outrider sessions list --all shows the sessions of other folders; --resume ID|NAME goes on with one from anywhere",
  });
}

export type Fork = { source: string; newId: string; at: string | undefined };

/** Copies a session up to and with the event `at`, or all of it. */
export async function forkSession(store: SessionStore, { source, newId, at }: Fork): Promise<void> {
  await store.fork(source, newId, at === undefined ? {} : { at: toSeq(await store.read(source), source, at) });
}

/** What the copy of a session with a name is to be called: a name should go on to mean one session. */
export async function nameOfFork(store: SessionStore, forkId: string): Promise<string | undefined> {
  const summaries = await store.summaries();
  const name = summaries.find(({ id }) => id === forkId)?.name;
  if (name === undefined) return undefined;
  const taken = new Set(summaries.map((summary) => summary.name));
  for (let count = 1; ; count++) {
    const fresh = `${name} (fork${count === 1 ? "" : ` ${count}`})`;
    if (!taken.has(fresh)) return fresh;
  }
}

/** `--resume-session-at`: the number of an event, or what a frame is known by to whoever read it. */
function toSeq(events: readonly AgentEvent[], source: string, word: string): number {
  const last = events.at(-1)?.seq ?? 0;
  if (/^\d{1,15}$/.test(word)) {
    const seq = Number(word);
    if (seq >= (events[0]?.seq ?? 1) && seq <= last) return seq;
    throw noEvent(source, word, `Its events have the numbers ${events[0]?.seq ?? 0} to ${last}`);
  }
  const found = events.findLast((event) => isKnownAs(event, word));
  if (found) return found.seq;
  throw noEvent(source, word, "Give the number of an event (outrider sessions show), or the uuid or id of an assistant message");
}

function isKnownAs(event: AgentEvent, word: string): boolean {
  if (event.taskId !== undefined) return false; // a subagent's is no place in the conversation
  if (event.type === "message.ended") {
    const blocks = event.message.content.map((_, index) => frameUuid(event.messageId, index));
    return event.messageId === word || event.message.responseId === word || blocks.includes(word);
  }
  if (event.type === "tool.ended") return event.callId === word || eventUuid(event.sessionId, event.seq) === word;
  return event.type === "turn.ended" && event.turnId === word;
}

function noEvent(source: string, word: string, hint: string): RuntimeError {
  return new RuntimeError("not-found", `Session ${source} has no event ${JSON.stringify(word)}`, { hint });
}

function ambiguous(word: string, matches: readonly SessionSummary[]): RuntimeError {
  const lines = matches.slice(0, 10).map(({ id, name, updatedAt, cwd, prompt }) => {
    const called = name === undefined || name === word ? "" : `  ${visible(name)}`;
    return `  ${id}${called}  ${updatedAt.slice(0, 19)}Z  ${visible(cwd)}  ${visible(shorten(prompt))}`;
  });
  if (matches.length > 10) lines.push(`  and ${matches.length - 10} more`);
  return new RuntimeError("usage", `${JSON.stringify(word)} fits ${matches.length} sessions:\n${lines.join("\n")}`, {
    hint: "Name the one you mean by its id; outrider sessions rename ID NEWNAME tells them apart for the next time",
  });
}

function unknown(word: string, summaries: readonly SessionSummary[]): RuntimeError {
  const guesses = nearestSessions(word, summaries);
  const everything = summaries.length === 0 ? "No session is stored" : "outrider sessions list --all shows what is stored";
  return new RuntimeError("not-found", `No conversation found with session ID: ${visible(word)}`, {
    hint: guesses.length > 0 ? `Did you mean ${guesses.join(", or ")}? ${everything}` : everything,
  });
}

/** Up to three: names that hold the word come first, then what is spelled nearly like it. */
function nearestSessions(word: string, summaries: readonly SessionSummary[]): string[] {
  const lower = word.toLowerCase();
  const names = summaries.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const holding = lower.length < 3 ? [] : names.filter((name) => name.toLowerCase().includes(lower));
  const found = new Set(holding.slice(0, 3));
  const candidates = new Set([...names, ...summaries.map(({ id }) => id)]);
  while (found.size < 3) {
    const guess = nearest(
      word,
      [...candidates].filter((candidate) => !found.has(candidate)),
    );
    if (guess === undefined) break;
    found.add(guess);
  }
  return [...found].map(visible);
}

function shorten(prompt: string): string {
  return prompt.length > 80 ? `${prompt.slice(0, 79)}…` : prompt;
}
