import { type AgentEvent, RuntimeError, type SessionStore } from "@outrider/runtime";
import type { SessionSummary } from "@outrider/runtime/admin";
import { eventUuid, frameUuid, nearest } from "@outrider/runtime/host";
import { visible } from "../terminal/visible.ts";

/** The shortest beginning of an id that stands for the whole. */
const shortestPrefix = 8;

/**
 * The id a person means: a whole id, else a name (in this spelling, else in any), else the beginning of an id.
 * Several sessions of one name are listed instead of guessed at.
 */
export async function findSession(store: SessionStore, word: string): Promise<string> {
  if (await store.has(word)) return word; // without a look into the logs
  const { summaries, unreadable } = await readSummaries(store);
  const spelling = spellingOf(word);
  const tries = [
    summaries.filter(({ name }) => name === word),
    summaries.filter(({ name }) => name !== undefined && spellingOf(name) === spelling),
    word.length < shortestPrefix ? [] : summaries.filter(({ id }) => id.startsWith(word)),
  ];
  const [found, ...others] = tries.find((matches) => matches.length > 0) ?? [];
  if (!found) throw unknown(word, summaries, unreadable.length);
  if (others.length > 0) throw ambiguous(word, [found, ...others]);
  return found.id;
}

/** Names that look the same are the same: however letters with accents are put together, and whatever space is around and between words. */
function spellingOf(name: string): string {
  return name.normalize("NFC").trim().replace(/\s+/gu, " ").toLowerCase();
}

type Stored = { readonly summaries: readonly SessionSummary[]; readonly unreadable: readonly RuntimeError[] };

async function readSummaries(store: SessionStore): Promise<Stored> {
  const unreadable: RuntimeError[] = [];
  const summaries = await store.summaries({ onSkipped: (_, reason) => unreadable.push(reason) });
  return { summaries, unreadable };
}

/**
 * The one that was written to last among those that worked in this folder and have been asked something. A journal that cannot be read does
 * not say where it worked: it may be the one that is meant, so that passing it over is told.
 */
export async function latestSession(
  store: SessionStore,
  { cwd, warn }: { cwd: string; warn: (line: string) => void },
): Promise<string | undefined> {
  const { summaries, unreadable } = await readSummaries(store);
  for (const { message } of unreadable.slice(0, 3)) warn(`passed over: ${visible(message)}`);
  if (unreadable.length > 3) warn(`passed over: ${unreadable.length - 3} more (outrider sessions list names them)`);
  return summaries.find((summary) => summary.cwd === cwd && summary.turns > 0)?.id;
}

/** What the copy of a session with a name is to be called: a name should go on to mean one session. */
export async function nameOfFork(store: SessionStore, source: string): Promise<string | undefined> {
  const named = (await store.read(source, { types: ["session.named"] })).findLast((event) => event.type === "session.named");
  if (named?.type !== "session.named") return undefined;
  const { name } = named;
  const summaries = await store.summaries(); // only now: to sum all of them up takes long
  const taken = new Set(summaries.map((summary) => summary.name));
  const original = name.replace(/ \(fork(?: \d+)?\)$/, "");
  for (let count = 1; ; count++) {
    const fresh = `${original} (fork${count === 1 ? "" : ` ${count}`})`;
    if (!taken.has(fresh)) return fresh;
  }
}

/** `--resume-session-at`: the number of an event, or the id by which a reader of the frames knows one. */
export async function findEvent(store: SessionStore, source: string, word: string): Promise<number> {
  const events = await store.read(source);
  const last = events.at(-1)?.seq ?? 0;
  if (/^\d{1,15}$/.test(word)) {
    const seq = Number(word);
    if (seq >= (events[0]?.seq ?? 1) && seq <= last) return seq;
    throw noEvent(source, word, `Its events have the numbers ${events[0]?.seq ?? 0} to ${last}`);
  }
  const found = events.findLast((event) => isKnownAs(event, word));
  if (found) return found.seq;
  throw noEvent(source, word, "Give the number of an event (outrider sessions show), or the uuid of a message's frame");
}

/**
 * `--resume-drops-turn`: who goes back knows one turn to leave behind. Anything else after that place, such as a message that joined meanwhile
 * or the end of the turn that is kept, would be lost to the conversation without somebody having seen it. Hosts look for how the message begins.
 */
export async function checkLeftBehind(
  store: SessionStore,
  { source, at, turnId }: { source: string; at: number; turnId: string },
): Promise<void> {
  const { standingEvents } = await import("@outrider/runtime/admin");
  const unseen = standingEvents(await store.read(source)).find(
    (event) => event.seq > at && event.taskId === undefined && isSaid(event) && !(event.turnId === turnId && isOfTurn(event)),
  );
  if (!unseen) return;
  const whose = unseen.turnId === turnId ? "joined the turn while it ran" : "belongs to another turn";
  const message = `Resume rejected by --resume-drops-turn: event ${unseen.seq} (${unseen.type}) would be left behind, and ${whose}`;
  throw new RuntimeError("usage", message, {
    hint: "Resume without --resume-session-at, or at the last event that is to be kept",
  });
}

function isSaid({ type }: AgentEvent): boolean {
  return type === "turn.started" || type === "input.added" || type === "message.ended" || type === "tool.ended";
}

function isOfTurn(event: AgentEvent): boolean {
  return event.type !== "input.added" || event.origin !== "user";
}

function isKnownAs(event: AgentEvent, word: string): boolean {
  if (event.taskId !== undefined) return false; // a subagent's is no place in the conversation
  if (event.importedAs?.includes(word)) return true;
  if (event.turnId === word) return true; // the last event of a turn stands for all of it
  if (event.type === "message.ended") {
    const blocks = event.message.content.map((_, index) => frameUuid(event.messageId, index));
    return event.messageId === word || event.message.responseId === word || blocks.includes(word);
  }
  if (event.type === "tool.ended" && event.callId === word) return true;
  return isUserFrame(event) && eventUuid(event.sessionId, event.seq) === word;
}

function isUserFrame({ type }: AgentEvent): boolean {
  return type === "tool.ended" || type === "input.added" || type === "turn.started";
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

function unknown(word: string, summaries: readonly SessionSummary[], unreadable: number): RuntimeError {
  const guesses = nearestSessions(word, summaries);
  const nothing = summaries.length + unreadable === 0;
  const everything = nothing
    ? "No session is stored"
    : `outrider sessions list --all shows what is stored${unreadable > 0 ? `, and why ${unreadable} of them cannot be read` : ""}`;
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
