import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { checkValue, oneOf, text as words } from "../protocol/kinds.ts";
import { replaceFile } from "../util/replace-file.ts";
import { withoutHiddenText } from "./hidden-text.ts";
import { openInstructionFile } from "./instruction-file.ts";

export type TaskFileStatus = "in-progress" | "todo" | "blocked" | "completed" | "unknown";

/** A file in `.agents/tasks` that describes work which goes on. */
export type TaskFile = {
  /** From the top of the project. */
  readonly path: string;
  readonly title: string;
  readonly status: TaskFileStatus;
  readonly branch?: string;
  readonly scope?: string;
  readonly objective?: string;
  /** Items of its lists that are not checked. */
  readonly openItems: readonly string[];
};

export type LoadTaskContextOptions = {
  /** Tasks of this branch come first. */
  readonly currentBranch?: string | undefined;
  /** 3 when absent. */
  readonly maxTasks?: number | undefined;
  /** Refuses files that rules keep from the model; takes their real path. */
  readonly mayRead?: ((realPath: string) => boolean) | undefined;
};

const folderName = ".agents/tasks";
/** A folder with more files than this is no list of what goes on. */
const maxFiles = 200;
const maxItems = 20;
const maxLine = 300;
const order: readonly TaskFileStatus[] = ["in-progress", "todo", "blocked", "unknown"];

/** The few tasks that matter now: those of the branch, then what is in progress, to do, blocked, or says nothing. Never throws. */
export function loadTaskContext(cwd: string, { currentBranch, maxTasks = 3, mayRead }: LoadTaskContextOptions = {}): TaskFile[] {
  checkValue("cwd", cwd, words);
  const top = resolve(cwd);
  const tasks = namesIn(join(top, folderName)).flatMap((name) => {
    const file = openInstructionFile(join(top, folderName, name), join(top, folderName));
    if (file.type !== "read" || mayRead?.(file.realPath) === false) return [];
    return [parseTask(`${folderName}/${name}`, withoutHiddenText(file.text).text)];
  });
  const rank = ({ branch, status }: TaskFile): number =>
    currentBranch !== undefined && branch === currentBranch ? -1 : order.indexOf(status);
  return tasks
    .filter(({ status }) => status !== "completed")
    .toSorted((one, other) => rank(one) - rank(other) || (one.path < other.path ? -1 : 1))
    .slice(0, maxTasks);
}

/** What the files say, and nothing that tells the model what to do with it; empty without tasks. */
export function formatTaskContext(tasks: readonly TaskFile[]): string {
  if (tasks.length === 0) return "";
  return ["# Active Task Context", ...tasks.map(describeTask)].join("\n\n");
}

function describeTask({ path, title, status, branch, scope, objective, openItems }: TaskFile): string {
  const facts = [
    `- Path: ${path}`,
    `- Status: ${status}`,
    ...(branch === undefined ? [] : [`- Branch: ${branch}`]),
    ...(scope === undefined ? [] : [`- Scope: ${scope}`]),
    ...(objective === undefined ? [] : [`- Objective: ${objective}`]),
    ...(openItems.length === 0 ? [] : ["- Open:", ...openItems.map((item) => `  - [ ] ${item}`)]),
  ];
  return [`## ${title}`, ...facts].join("\n");
}

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isDirectory());
    return names
      .map(({ name }) => name)
      .filter((name) => name.endsWith(".md") && name.toLowerCase() !== "readme.md")
      .toSorted()
      .slice(0, maxFiles);
  } catch {
    return []; // there is none
  }
}

function parseTask(path: string, text: string): TaskFile {
  const lines = text.split(/\r?\n/);
  const field = (name: string): string | undefined =>
    lines.map((line) => metadata(line, name)).find((value) => value !== undefined);
  const [branch, scope] = [field("Branch"), field("Scope")];
  const title = lines.map((line) => /^#\s+(.+)$/.exec(line)?.[1]).find(Boolean);
  const objective = sectionOf(lines, "Objective");
  return {
    path,
    title: short(title ?? basename(path, ".md")),
    status: toStatus(field("Status")),
    ...(branch !== undefined && { branch: branch.replaceAll("`", "") }),
    ...(scope !== undefined && { scope }),
    ...(objective !== undefined && { objective }),
    openItems: lines
      .flatMap((line) => /^\s*[-*]\s+\[ \]\s+(.+)$/.exec(line)?.[1] ?? [])
      .slice(0, maxItems)
      .map(short),
  };
}

/** `- **Status**: done`, with or without the dash and the stars. */
function metadata(line: string, name: string): string | undefined {
  const found = new RegExp(`^\\s*(?:[-*]\\s+)?(?:\\*\\*)?${name}(?:\\*\\*)?\\s*:(?:\\*\\*)?\\s*(.+)$`, "i").exec(line)?.[1];
  return found === undefined ? undefined : short(found);
}

function toStatus(text = ""): TaskFileStatus {
  const word = text.toLowerCase().replace(/[^a-z]+/g, "-");
  if (/^(in-progress|progress|doing|active|started|wip)/.test(word)) return "in-progress";
  if (/^(todo|to-do|open|planned|pending|backlog|not-started)/.test(word)) return "todo";
  if (/^(blocked|waiting|on-hold)/.test(word)) return "blocked";
  return /^(completed?|done|closed|finished|cancell?ed)/.test(word) ? "completed" : "unknown";
}

/** Its first paragraph. */
function sectionOf(lines: readonly string[], heading: string): string | undefined {
  const at = lines.findIndex((line) => new RegExp(`^#{2,}\\s+${heading}\\b`, "i").test(line));
  if (at < 0) return undefined;
  const rest = lines.slice(at + 1);
  const from = rest.findIndex((line) => line.trim() !== "");
  const words = rest
    .slice(from)
    .join("\n")
    .split(/\n\s*\n|\n(?=#)/)[0]
    ?.trim();
  return from < 0 || !words || words.startsWith("#") ? undefined : short(words);
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxLine ? `${line.slice(0, maxLine - 1)}…` : line;
}

export type UpdateTaskFileOptions = {
  /** Added to the file's list of progress, with the day. */
  readonly progressMessage?: string | undefined;
  /** Milliseconds since 1970; the system's clock when absent. */
  readonly now?: (() => number) | undefined;
};

/** Writes the status of a task into its file, whole or not at all. Ends of lines and permissions stay as they are. */
export async function updateTaskFileStatus(
  path: string,
  status: Exclude<TaskFileStatus, "unknown">,
  { progressMessage, now = Date.now }: UpdateTaskFileOptions = {},
): Promise<void> {
  checkValue("path", path, words);
  checkValue("status", status, oneOf(["in-progress", "todo", "blocked", "completed"]));
  const full = resolve(path);
  requireTaskFile(full);
  const text = readFileSync(full, "utf8");
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = withStatus(text.split(/\r?\n/), status);
  const day = new Date(now()).toISOString().slice(0, 10);
  const told = progressMessage === undefined ? lines : withProgress(lines, `- ${day}: ${short(progressMessage)}`);
  await replaceFile(full, told.join(end), { mode: lstatSync(full).mode & 0o777 });
}

function requireTaskFile(full: string): void {
  const folder = dirname(full);
  const isPlaced = folder.endsWith(`/${folderName}`) && full.endsWith(".md");
  if (!isPlaced) throw new RuntimeError("usage", `${full} is no file of ${folderName}`);
  const stat = lstatSync(full, { throwIfNoEntry: false });
  if (!stat) throw new RuntimeError("not-found", `${full} is not there`);
  if (!stat.isFile() || realpathSync(folder) !== join(realpathSync(dirname(dirname(folder))), folderName))
    throw new RuntimeError("usage", `${full} leads elsewhere through a link, or is no file`);
}

function withStatus(lines: readonly string[], status: string): string[] {
  const at = lines.findIndex((line) => metadata(line, "Status") !== undefined);
  if (at >= 0) return lines.map((line, index) => (index === at ? line.replace(/:(\*\*)?\s*.*$/, `:$1 ${status}`) : line));
  const title = lines.findIndex((line) => /^#\s/.test(line));
  const before = lines.slice(0, title + 1);
  const after = lines.slice(title + 1);
  return [
    ...before,
    ...(title >= 0 ? [""] : []),
    `- **Status**: ${status}`,
    ...(after[0] === "" || after.length === 0 ? [] : [""]),
    ...after,
  ];
}

function withProgress(lines: readonly string[], entry: string): string[] {
  const at = lines.findIndex((line) => /^#{2,}\s+Progress\b/i.test(line));
  if (at < 0) {
    const body = trimmedEnd(lines);
    return [...body, "", "## Progress", "", entry, ""];
  }
  const next = lines.findIndex((line, index) => index > at && /^#{1,2}\s/.test(line));
  const section = trimmedEnd(lines.slice(at, next < 0 ? undefined : next));
  const rest = next < 0 ? [] : ["", ...lines.slice(next)];
  return [...lines.slice(0, at), ...section, ...(section.length === 1 ? [""] : []), entry, ...(rest.length > 0 ? rest : [""])];
}

function trimmedEnd(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return lines.slice(0, last + 1);
}
