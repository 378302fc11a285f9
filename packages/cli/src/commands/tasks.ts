import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BackgroundTaskState, createFileStore, RuntimeError } from "@outrider/runtime";
import { LineOutput, outriderHome } from "@outrider/runtime/host";
import { takeOwnWords } from "../flags/words.ts";
import { exitCodes } from "../exit-codes.ts";
import { findSession } from "../request/find-session.ts";
import { visible } from "../terminal/visible.ts";

const usage = `Usage:
  outrider tasks SESSION [--json]        list the background tasks of a session, and how they ended
  outrider tasks SESSION TASK            show the output of a task

SESSION is an id, the first 8 or more characters of one, or a name. A task that is "running" here runs in an open session,
or was left by a process that has ended: the session finds out when it is opened next.

Exit codes: 0 done · 64 wrong usage · 66 no such session or task · 78 cannot be read
`;

/** The background tasks of a stored session. */
export async function runTasks(args: readonly string[]): Promise<number> {
  const output = new LineOutput(process.stdout);
  const words = takeOwnWords(args, { switches: ["--json", "--help", "-h"], values: [] });
  const [session, task, ...more] = words.rest;
  const isHelp = words.has("--help") || words.has("-h");
  if (!isHelp && (session === undefined || more.length > 0))
    throw new RuntimeError("usage", `tasks takes a session, and perhaps one of its tasks\n${usage}`);
  output.write(isHelp || session === undefined ? usage : await tell(session, { task, asJson: words.has("--json") }));
  await output.drain();
  return exitCodes.success;
}

async function tell(session: string, { task, asJson }: { task: string | undefined; asJson: boolean }): Promise<string> {
  const store = createFileStore(join(outriderHome(process.env), "sessions"));
  const id = await findSession(store, session);
  const types = ["background.created", "background.started", "background.updated", "background.ended"] as const;
  const latest = new Map<string, BackgroundTaskState>();
  for (const event of await store.read(id, { types })) if ("task" in event) latest.set(event.task.id, event.task);
  if (task !== undefined) return outputOf(id, task, latest);
  const tasks = [...latest.values()];
  if (asJson) return `${JSON.stringify(tasks, null, 2)}\n`;
  return tasks.length === 0 ? `Session ${id} has no tasks\n` : tasks.map(lineOf).join("");
}

function outputOf(session: string, id: string, tasks: ReadonlyMap<string, BackgroundTaskState>): string {
  const task = tasks.get(id);
  if (!task) {
    const known = tasks.size > 0 ? `It has ${[...tasks.keys()].join(", ")}` : "It has none";
    throw new RuntimeError("not-found", `Session ${session} has no task ${id}. ${known}`);
  }
  try {
    return readFileSync(task.logPath ?? "", "utf8");
  } catch {
    return task.result?.output ?? "";
  }
}

function lineOf({ id, status, startedAt, completedAt, result, label, commandPreview }: BackgroundTaskState): string {
  const seconds =
    startedAt === undefined || completedAt === undefined
      ? ""
      : `${Math.round((Date.parse(completedAt) - Date.parse(startedAt)) / 100) / 10} s`;
  const code = result?.exitCode === undefined ? "" : `exit code ${result.exitCode}`;
  const how = [status, code, seconds].filter(Boolean).join(", ");
  return `${id}  ${how}  ${visible((commandPreview ?? label).split("\n", 1)[0] ?? "")}\n`;
}
