import type { CommandHostContext, CommandResult } from "../command.ts";
import { readTask } from "./background.ts";

const usage =
  "There is /agent list, run AGENT PROMPT, parallel [--detach] AGENT PROMPT ;; AGENT PROMPT, wait GROUP, read ID [OFFSET], send ID TEXT, stop ID and close ID";

/** `/agent run` and `/agent parallel` are turns of their own, and never come here. */
export async function agent(context: CommandHostContext, args: string): Promise<CommandResult> {
  const { tasks } = context;
  const [, action = "list", id = "", rest = ""] = /^\s*(\S+)?\s*(\S+)?\s*(.*)$/s.exec(args) ?? [];
  if (action === "list" && id === "") return await list(context);
  if (id === "") return { success: false, message: usage };
  if (action === "read") return await readTask(tasks, id, { offset: rest.trim() || "0", command: "agent" });
  if (action === "send" && rest !== "") {
    await tasks.send(id, rest);
    return said(`${id} was told`);
  }
  if (rest !== "") return { success: false, message: usage };
  switch (action) {
    case "stop":
      await tasks.cancel(id);
      return said(`${id} is stopped`);
    case "close":
      await tasks.close(id);
      return said(`${id} is forgotten`);
    case "wait":
      return said((await tasks.waitGroup(id)).join("\n"));
    default:
      return { success: false, message: usage };
  }
}

async function list({ listAgents, tasks }: CommandHostContext): Promise<CommandResult> {
  const agents = await listAgents();
  const lines = agents.map(({ name, description }) => `${name}: ${description.split("\n", 1)[0]}`);
  const running = tasks.list().filter(({ kind }) => kind === "agent");
  const work = running.map(({ id, status, label }) => `${id} ${status}: ${label}`);
  return { ...said([...lines, ...work].join("\n") || "There are no agents"), data: { agents: [...agents], tasks: running } };
}

function said(message: string): CommandResult {
  return { success: true, message };
}
