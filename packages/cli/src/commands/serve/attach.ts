import { createInterface } from "node:readline";
import { type Message, RuntimeError } from "@outrider/runtime";
import { OutriderClient, OutriderError, type RemoteSession, type ServerFrame } from "@outrider/runtime/client";
import { exitCodes } from "../../exit-codes.ts";
import { takeOwnWords } from "../../flags/words.ts";
import { print, visible } from "../../terminal/visible.ts";
import { connect } from "./connect.ts";
import { ShownQuestions } from "./shown-questions.ts";

const usage = `Usage:
  outrider attach [URL] [SESSION]    watch and steer a server's session from this terminal
  outrider attach [URL] --new        start a new one

By default the local server (outrider serve) and its latest session. Another server's token: OUTRIDER_SERVER_TOKEN.
The last text and any open question are shown first. A line you type is a prompt; while a turn runs, the model reads it before it continues.
Permission questions come one at a time with their whole input; y or n answers the one shown, and no other line is sent until then.
/cancel ends the turn; Ctrl-C or the end of input leaves, and the session continues without you.
  --view                             only watch
`;

/** `outrider attach`. */
export async function runAttach(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--view", "--new", "--help", "-h"], values: [] });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const [first, ...rest] = words.rest;
  const isUrl = first !== undefined && /^https?:\/\//.test(first);
  const [wanted, ...more] = isUrl ? rest : words.rest;
  if (more.length > 0 || wanted?.startsWith("-"))
    throw new RuntimeError("usage", `attach does not take ${more[0] ?? wanted}\n${usage}`);
  const client = new OutriderClient(connect(isUrl ? first : undefined));
  try {
    const id = words.has("--new") ? (await client.createSession()).id : await findSession(client, wanted);
    return await watch(client, id, words.has("--view"));
  } catch (error) {
    throw toOwnError(error);
  }
}

async function findSession(client: OutriderClient, wanted: string | undefined): Promise<string> {
  const { sessions } = await client.listSessions({ limit: 1000 });
  if (wanted === undefined) {
    const [latest] = sessions;
    if (!latest)
      throw new RuntimeError("not-found", "The server has no session yet", { hint: "outrider attach --new begins one" });
    return latest.id;
  }
  const found = sessions.filter(
    ({ id, name }) => id === wanted || name === wanted || (wanted.length >= 8 && id.startsWith(wanted)),
  );
  const [only] = found;
  if (!only) throw new RuntimeError("not-found", `The server has no session ${wanted}`, { hint: "outrider ps lists them" });
  if (found.length > 1) throw new RuntimeError("usage", `${wanted} is the beginning of several sessions`);
  return only.id;
}

/** Between a stored event and its frame. */
const longestWayMs = 2_000;

async function watch(client: OutriderClient, id: string, isViewer: boolean): Promise<number> {
  const leaving = new AbortController();
  process.on("SIGINT", () => leaving.abort());
  process.on("SIGTERM", () => leaving.abort());
  const session = await client.getSession(id);
  let isWorking = session.state === "working";
  const write = (text: string): void => void process.stdout.write(text);
  write(`Session ${id} in ${visible(session.cwd)}, ${stateOf(session)}\n`);
  write(toldHistory(await client.messages(id)));
  const questions = new ShownQuestions(write);
  questions.replace(session.questions);
  const complain = (error: unknown): void => void process.stderr.write(`outrider: ${toOwnError(error).message}\n`);
  const hear = async (line: string): Promise<void> => {
    const text = line.trim();
    if (text === "") return;
    if (text === "/cancel") return await client.cancel(id);
    if (questions.isAsking) return await questions.answer(text, client, id);
    await client.send(id, text, { mode: isWorking ? "steer" : "queue" });
  };
  if (!isViewer) {
    const input = createInterface({ input: process.stdin, terminal: false });
    let before: Promise<void> = Promise.resolve();
    input.on("line", (line) => {
      before = before.then(() => hear(line)).catch(complain);
    });
    input.on("close", () => void before.then(() => leaveWhenIdle()));
  }
  /** Whoever pipes prompts wants to see what comes of them: also what is still on its way here when the session is idle. */
  let isLeaving = false;
  let seen = session.storedSeq;
  let last = Number.POSITIVE_INFINITY;
  const leaveWhenIdle = async (): Promise<void> => {
    isLeaving = true;
    const { state, waiting, storedSeq } = await client.getSession(id);
    if (state === "working" || waiting.length > 0) return;
    last = storedSeq;
    if (seen >= last) leaving.abort();
    else setTimeout(() => leaving.abort(), longestWayMs).unref();
  };
  for await (const frame of client.watch(id, { after: session.storedSeq, signal: leaving.signal })) {
    write(tell(frame));
    if ("seq" in frame && typeof frame.seq === "number") seen = frame.seq;
    if (seen >= last) leaving.abort();
    if (frame.type === "turn.started") isWorking = true;
    if (frame.type === "resync") questions.replace(frame.session.questions);
    if (frame.type === "permission.requested") questions.add(frame);
    if (frame.type === "permission.resolved") questions.remove(frame.requestId);
    if (frame.type !== "turn.ended") continue;
    isWorking = false;
    if (questions.size > 0) questions.replace(await client.questions(id)); // those of a cancelled turn are gone
    if (isLeaving) await leaveWhenIdle();
  }
  process.stdin.destroy();
  return exitCodes.success;
}

function tell(frame: ServerFrame): string {
  switch (frame.type) {
    case "turn.started":
      return `\n> ${visible(wordsOf(frame.input.content))}\n`;
    case "text.delta":
      return frame.taskId === undefined ? visible(frame.text) : "";
    case "tool.started":
      return `\n· ${visible(frame.name)} ${visible(JSON.stringify(frame.input).slice(0, 200))}\n`;
    case "tool.ended":
      return frame.status === "ok" ? "" : `  ${frame.status}\n`;
    case "permission.resolved":
      return `  ${frame.decision} (${frame.by})\n`;
    case "warning.raised":
      return `\n! ${visible(frame.message)}\n`;
    case "turn.ended":
      return frame.outcome.type === "completed" ? "\n" : `\n[${frame.outcome.type}]\n`;
    case "resync":
      return `\n[${frame.messages.length} messages so far]\n`;
    default:
      return "";
  }
}

/** `waits for you` where somebody has to answer before it goes on. */
export function stateOf({ state, questions }: Pick<RemoteSession, "state" | "questions">): string {
  return questions.length > 0 ? "waits for you" : state;
}

const toldMessages = 6;
const toldCharacters = 1000;

/** The last words of both sides. */
function toldHistory(messages: readonly Message[]): string {
  const spoken = messages.flatMap(({ role, content }) => {
    const text = content
      .flatMap((part) => (part.type === "text" ? [part.text] : []))
      .join("\n")
      .trim();
    return text === "" || (role !== "user" && role !== "assistant") ? [] : [{ role, text }];
  });
  return spoken
    .slice(-toldMessages)
    .map(({ role, text }) => {
      const short = text.length > toldCharacters ? `${text.slice(0, toldCharacters)}…` : text;
      return `\n${role === "user" ? "> " : ""}${short.split("\n").map(visible).join("\n")}\n`;
    })
    .join("");
}

function wordsOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.map((part) => part.text ?? `[${part.type}]`).join(" ");
}

/** What the server said, in the words and with the exit code that a run would have. */
export function toOwnError(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  if (error instanceof OutriderError) {
    const code = error.status === 404 ? "not-found" : error.status < 500 ? "usage" : "config";
    return new RuntimeError(code, error.message, { ...(error.hint !== undefined && { hint: error.hint }), cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new RuntimeError("config", `The server cannot be reached: ${message}`, { cause: error });
}
