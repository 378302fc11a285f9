import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import type { Forgiveness } from "../meant-input.ts";

type Note = (sentence: string) => void;

const folderNames = ["cwd", "workdir", "working_directory", "workingDirectory"];

export const bashForgiveness: Forgiveness = {
  names: {
    cmd: "command",
    script: "command",
    background: "run_in_background",
    is_background: "run_in_background",
    timeout_ms: "timeout",
  },
  needed: [...folderNames, "env", "stdin", "input"],
  unset: ["timeout"],
  reshape: (input, note) => inFolder(withWords(input, note), note),
};

/** A command that came as the words of a program: `["bash", "-lc", "npm test"]`, `["git", "status"]`. */
function withWords(input: JsonObject, note: Note): JsonObject {
  const name = ["command", "cmd"].find((one) => Array.isArray(input[one]));
  const words = name === undefined ? [] : (input[name] as JsonValue[]); // just seen
  if (name === undefined || words.length < 2 || !words.every((word) => typeof word === "string")) return input;
  const [program = "", option = "", script] = words;
  if (/\s/.test(program)) return input; // several commands, or one in pieces
  const isShell = words.length === 3 && /^(?:\/(?:usr\/)?bin\/)?(?:ba|z)?sh$/.test(program) && /^-l?c$/.test(option);
  note(`${JSON.stringify(name)} came as a list and was taken as a command line.`);
  return { ...input, [name]: isShell && script !== undefined ? script : words.map(quoted).join(" ") };
}

/** A command for another folder goes there by itself: the next one starts where this one did. */
function inFolder(input: JsonObject, note: Note): JsonObject {
  const [name, ...others] = folderNames.filter((one) => one in input);
  const command = ["command", "cmd", "script"].find((one) => typeof input[one] === "string");
  if (name === undefined || others.length > 0 || command === undefined) return input;
  const { [name]: folder, ...rest } = input;
  if (typeof folder !== "string" || folder.trim() === "") return input;
  if (folder === ".") return rest;
  const text = String(input[command]);
  const isOne = !/[\n;&|#]/.test(text.replaceAll("&&", ""));
  note(`${JSON.stringify(name)} was taken as a cd for this command only.`);
  const there = `cd ${quoted(folder)}`;
  return { ...rest, [command]: isOne ? `(${there} && ${text})` : `(${there} || exit\n${text}\n)` };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export const todoForgiveness: Forgiveness = {
  names: {
    items: "todos",
    tasks: "todos",
    plan: "todos",
    task: "content",
    title: "content",
    text: "content",
    step: "content",
    description: "content",
    active_form: "activeForm",
  },
  needed: ["merge"],
  words: {
    status: {
      done: "completed",
      complete: "completed",
      finished: "completed",
      todo: "pending",
      open: "pending",
      notstarted: "pending",
      doing: "in_progress",
      active: "in_progress",
      started: "in_progress",
    },
  },
  reshape: withWholeItems,
};

/** Tasks that are only their text, or have no status: they are to be done. What was given up stands in no list of what is to be done. */
function withWholeItems(input: JsonObject, note: Note): JsonObject {
  const name = ["todos", "items", "tasks", "plan"].find((one) => Array.isArray(input[one]));
  const items = name === undefined ? [] : (input[name] as JsonValue[]); // just seen
  const kept = items.filter((item) => !(isJsonObject(item) && /^cancell?ed$/i.test(String(item["status"]))));
  const whole = kept.map((item): JsonValue => {
    if (typeof item === "string" && item.trim() !== "") return { content: item, status: "pending" };
    if (!isJsonObject(item) || "status" in item || "state" in item) return item;
    const { completed, done = completed, ...rest } = item;
    return { ...rest, status: done === true ? "completed" : "pending" };
  });
  if (name === undefined || (kept.length === items.length && whole.every((item, index) => item === items[index]))) return input;
  if (kept.length < items.length) note("Tasks that were cancelled are not in the list any more.");
  return { ...input, [name]: whole };
}

export const taskForgiveness: Forgiveness = {
  names: { agent: "subagent_type", agent_type: "subagent_type", task: "prompt", background: "run_in_background" },
  needed: [],
  unset: ["subagent_type", "model", "resume", "name"],
  complete: withDescription,
};

/** The description is for people who watch: the first words of the prompt do as well. */
function withDescription(input: JsonObject): JsonObject {
  const { description, prompt } = input;
  if (typeof prompt !== "string" || prompt.trim() === "" || (description !== undefined && description !== "")) return input;
  return { ...input, description: prompt.trim().split(/\s+/).slice(0, 5).join(" ").slice(0, 80) };
}
