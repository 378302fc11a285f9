import type { Client } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import { sleep } from "../../util/sleep.ts";
import { askServer, type RequestOptions } from "./call-server.ts";

const keptMs = 10 * 60_000;
const usualPollMs = 1_000;
const leastPollMs = 100;
const cancelMs = 2_000;

type TaskCall = {
  readonly params: JsonObject;
  readonly options: RequestOptions & { readonly signal: AbortSignal };
  readonly progress: (text: string) => void;
};

/** A call that the server works on beside the conversation: begun, looked after until it is done, and its result fetched. */
export async function callAsTask(client: Client, { params, options, progress }: TaskCall): Promise<JsonObject> {
  const begun = await askServer(client, { method: "tools/call", params: { ...params, task: { ttl: keptMs } } }, options);
  let task = begun["task"];
  if (!isJsonObject(task) || typeof task["taskId"] !== "string") return begun; // it has answered at once
  const { taskId } = task;
  try {
    while (isJsonObject(task) && (task["status"] === "working" || task["status"] === "submitted")) {
      if (typeof task["statusMessage"] === "string") progress(task["statusMessage"]);
      const { pollInterval } = task;
      await sleep(Math.max(leastPollMs, typeof pollInterval === "number" ? pollInterval : usualPollMs), options.signal);
      task = await askServer(client, { method: "tasks/get", params: { taskId } }, options);
    }
    // For a task that wants input this is where the server asks for it.
    return await askServer(client, { method: "tasks/result", params: { taskId } }, options);
  } catch (error) {
    if (options.signal.aborted)
      await askServer(client, { method: "tasks/cancel", params: { taskId } }, { timeout: cancelMs }).catch(() => {}); // it ends by itself, later
    throw error;
  }
}
