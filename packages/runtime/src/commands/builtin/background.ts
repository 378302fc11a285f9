import type { CommandHostContext, CommandResult } from "../command.ts";

/** `/background`: what goes on beside the conversation. */
export async function background({ tasks }: CommandHostContext, args: string): Promise<CommandResult> {
  const [action = "list", id, offset, ...more] = args.trim().split(/\s+/).filter(Boolean);
  if (action === "list" && id === undefined) {
    const all = tasks.list();
    const lines = all.map(({ id: name, status, kind, label }) => `${name} ${status} ${kind}: ${label}`);
    return { success: true, message: lines.join("\n") || "Nothing runs in the background", data: { tasks: all } };
  }
  if (id !== undefined && more.length === 0 && (offset === undefined || action === "read")) {
    if (action === "read") return await readTask(tasks, id, { offset: offset ?? "0", command: "background" });
    if (action === "cancel") {
      await tasks.cancel(id);
      return { success: true, message: `${id} is stopped` };
    }
    if (action === "close") {
      await tasks.close(id);
      return { success: true, message: `${id} is forgotten` };
    }
  }
  return { success: false, message: "There is /background list, and read ID [OFFSET], cancel ID and close ID" };
}

/** A page of what a task printed; `command` is the one that shows the next. */
export async function readTask(
  tasks: CommandHostContext["tasks"],
  id: string,
  { offset, command }: { readonly offset: string; readonly command: string },
): Promise<CommandResult> {
  const from = Number(offset);
  if (!Number.isInteger(from) || from < 0) return { success: false, message: `${offset} is no offset` };
  const { lines, nextOffset } = await tasks.read(id, from);
  const more = nextOffset === undefined ? [] : [`(it goes on with /${command} read ${id} ${nextOffset})`];
  const message = [...(lines.length === 0 ? ["(nothing more was printed)"] : lines), ...more].join("\n");
  return { success: true, message, data: { lines: [...lines], nextOffset } };
}
