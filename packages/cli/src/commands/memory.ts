import { RuntimeError } from "@outrider/runtime";
import { MemoryPolicyEvaluator, runMemory } from "@outrider/runtime/commands";
import { createRedactor } from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";
import { takeOwnWords } from "../flags/words.ts";
import { lookAtProject } from "../request/project.ts";
import { print, visible } from "../terminal/visible.ts";

const usage = `Usage:
  outrider memory list [--cwd DIR] [--json]         show the index that new sessions of this project get
  outrider memory show [TOPIC]                      list the topics, or show one of them
  outrider memory add user|feedback|project|reference TOPIC TEXT
  outrider memory pending                           list the entries that models propose
  outrider memory approve ID | reject ID            decide on one
`;

/** The project's memory, by the same functions as /memory in a session. */
export async function runMemoryCommand(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--json", "--help", "-h"], values: ["--cwd"] });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const [action] = words.rest;
  if (action !== undefined && !["list", "show", "add", "pending", "approve", "reject"].includes(action))
    throw new RuntimeError("usage", `memory does not take ${visible(words.rest.join(" "))}\n${usage}`);
  const { root } = await lookAtProject({ cwd: words.value("--cwd") });
  const policy = new MemoryPolicyEvaluator(createRedactor({ env: process.env }));
  const { success, message, data } = await runMemory(words.rest.join(" "), { root, by: "user", policy });
  if (!success) throw new RuntimeError("usage", message);
  await print(`${words.has("--json") ? JSON.stringify(data ?? { message }) : message.split("\n").map(visible).join("\n")}\n`);
  return exitCodes.success;
}
