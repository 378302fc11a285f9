import { formatEntry } from "../../context/memory/memory-entry.ts";
import { PendingMemoryStore } from "../../context/memory/pending-memory.ts";
import { ProjectMemoryStore } from "../../context/memory/project-memory.ts";
import type { MemoryNote } from "../../protocol/events.ts";
import type { MemoryPolicyEvaluator } from "../../context/memory/memory-policy.ts";
import { nearest } from "../../util/nearest.ts";
import type { CommandResult } from "../command.ts";

export type MemoryGround = {
  /** The top of the project. */
  readonly root: string;
  readonly policy?: MemoryPolicyEvaluator | undefined;
  /** Whose wish it is: what a model would like to be remembered waits for a person. */
  readonly by: "user" | "model";
  /** Puts it on the record of a session. */
  readonly note?: ((note: MemoryNote) => void) | undefined;
  /** Throws where a topic may not be changed, nor the index with it; everybody who is here may when absent. */
  readonly mayChange?: ((topic: string) => Promise<void>) | undefined;
  /** Topics that were looked at in this session. */
  readonly used?: (() => Promise<readonly string[]>) | undefined;
};

const usage = "list, show [TOPIC], add user|feedback|project|reference TOPIC TEXT, pending, approve ID, reject ID, used";

/** `/memory`, `outrider memory` and the tool of models. */
export async function runMemory(args: string, ground: MemoryGround): Promise<CommandResult> {
  const [, action = "list", rest = ""] = /^\s*(\S+)\s*(.*)$/s.exec(args) ?? [];
  const store = new ProjectMemoryStore(ground);
  const pending = new PendingMemoryStore(ground);
  switch (action) {
    case "list":
      return listed(store);
    case "show":
      return rest.trim() === "" ? topics(store) : show(store, rest.trim(), ground);
    case "add":
      return await add(rest, { store, pending, ground });
    case "pending":
      return waiting(pending);
    case "approve":
    case "reject":
      return await decide(action, rest.trim(), { store, pending, ground });
    case "used":
      return await used(ground);
    default:
      return refuse(`There is memory ${usage}`);
  }
}

type Stores = { readonly store: ProjectMemoryStore; readonly pending: PendingMemoryStore; readonly ground: MemoryGround };

function listed(store: ProjectMemoryStore): CommandResult {
  const entries = store.list();
  const message = entries.length === 0 ? "Nothing is remembered about this project" : entries.map(formatEntry).join("\n");
  return { success: true, message, data: { entries } };
}

function topics(store: ProjectMemoryStore): CommandResult {
  const names = store.topics();
  return { success: true, message: names.join("\n") || "There are no topics", data: { topics: names } };
}

function show(store: ProjectMemoryStore, topic: string, { note }: MemoryGround): CommandResult {
  const text = store.show(topic);
  if (text === undefined) {
    const guess = nearest(topic, store.topics());
    return refuse(`There is no topic ${topic}.${guess === undefined ? "" : ` Did you mean ${guess}?`}`);
  }
  note?.({ action: "used", topic: topic.toLowerCase() });
  return { success: true, message: text.trimEnd(), data: { topic: topic.toLowerCase(), text } };
}

async function add(args: string, { store, pending, ground }: Stores): Promise<CommandResult> {
  const [, type = "", topic = "", text = ""] = /^(\S+)\s+(\S+)\s+(.+)$/s.exec(args.trim()) ?? [];
  if (text === "") return refuse(`memory add takes a type, a topic and a text: ${usage}`);
  if (ground.by === "model") {
    const record = await pending.add(store.check({ type, topic, text }));
    ground.note?.({ action: "proposed", topic: record.topic, memoryType: record.type, id: record.id });
    return { success: true, message: `It waits for a person to say yes: /memory approve ${record.id}`, data: record };
  }
  await ground.mayChange?.(store.check({ type, topic, text }).topic);
  const { entry, deduplicated, indexFull } = await store.append({ type, topic, text });
  if (deduplicated) return { success: true, message: `${entry.topic} says so already`, data: { deduplicated } };
  ground.note?.({ action: "added", topic: entry.topic, memoryType: entry.type });
  const full = indexFull ? ". The index is full, so that new sessions are not told of it by themselves" : "";
  return { success: true, message: `Remembered: ${formatEntry(entry).slice(2)}${full}`, data: { entry, deduplicated } };
}

function waiting(pending: PendingMemoryStore): CommandResult {
  const records = pending.list();
  const lines = records.map(({ id, type, topic, text }) => `${id} (${type}/${topic}) ${text}`);
  return { success: true, message: lines.join("\n") || "Nothing waits for a word", data: { pending: records } };
}

async function decide(action: "approve" | "reject", id: string, { store, pending, ground }: Stores): Promise<CommandResult> {
  if (ground.by === "model") return refuse("Only a person decides what is remembered");
  if (id === "") return refuse(`memory ${action} takes an ID; memory pending lists them`);
  const record = pending.list().find((known) => known.id === id);
  if (!record) return refuse(`Nothing of the id ${id} waits`);
  await ground.mayChange?.(record.topic);
  if (action === "approve") await store.append(record);
  await pending.take(id);
  const { topic, type: memoryType } = record;
  ground.note?.({ action: action === "approve" ? "approved" : "rejected", topic, memoryType, id });
  return {
    success: true,
    message: `${action === "approve" ? "Remembered" : "Forgotten"}: (${memoryType}/${topic}) ${record.text}`,
  };
}

async function used({ used: topicsOf }: MemoryGround): Promise<CommandResult> {
  const names = (await topicsOf?.()) ?? [];
  return { success: true, message: names.join("\n") || "No topic was looked at in this session", data: { topics: names } };
}

function refuse(message: string): CommandResult {
  return { success: false, message };
}
