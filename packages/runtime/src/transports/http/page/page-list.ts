import type { HostedSummary } from "../../../hosting/session-host.ts";
import type { Client } from "../client.ts";
import type { Question } from "../open-questions.ts";
import type { ServedSessions } from "../served-sessions.ts";

/** `ended` says how the last turn went; a session that never had one is `new`. */
export type PageRow = {
  readonly id: string;
  readonly name?: string | undefined;
  readonly cwd: string;
  readonly prompt?: string | undefined;
  readonly updatedAt: string;
  readonly state: "waiting" | "working" | "completed" | "failed" | "stopped" | "cancelled" | "unfinished" | "new";
  /** What it asks, in a few words. */
  readonly asks?: string | undefined;
};

const most = 200;
const mostKept = 2_000;
/** How sessions ended, by id and the time of their last change: what has not changed is not read again. */
const endings = new Map<string, PageRow["state"]>();

export async function listForPage(sessions: ServedSessions, client: Client): Promise<PageRow[]> {
  const latest = (await sessions.list(client)).slice(0, most);
  return await Promise.all(latest.map((summary) => rowOf(sessions, client, summary)));
}

async function rowOf(sessions: ServedSessions, client: Client, summary: HostedSummary): Promise<PageRow> {
  const { id, name, cwd, prompt, updatedAt, state } = summary;
  const facts = { id, name, cwd, prompt: prompt?.slice(0, 200), updatedAt };
  const questions = state === "stored" ? [] : ((await sessions.look(client, id))?.questions.all ?? []);
  const [question] = questions;
  if (question) return { ...facts, state: "waiting", asks: describe(question) };
  if (state === "working") return { ...facts, state };
  return { ...facts, state: await endingOf(sessions, client, summary) };
}

async function endingOf(sessions: ServedSessions, client: Client, { id, updatedAt }: HostedSummary): Promise<PageRow["state"]> {
  const key = `${id} ${updatedAt}`;
  const known = endings.get(key);
  if (known) return known;
  const turns = await sessions.read(client, id, { types: ["turn.started", "turn.ended"] });
  const last = turns.filter(({ taskId }) => taskId === undefined).at(-1);
  const ending = last === undefined ? "new" : last.type === "turn.ended" ? last.outcome.type : "unfinished";
  endings.set(key, ending);
  const [oldest] = endings.keys();
  if (endings.size > mostKept && oldest !== undefined) endings.delete(oldest);
  return ending;
}

function describe(question: Question): string {
  return question.type === "permission.requested" ? `asks to use ${question.tool}` : "asks a question";
}
