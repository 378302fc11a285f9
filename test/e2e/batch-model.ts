import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { model } from "./command.ts";

/** What the tasks of a test do outside: `count(task, step)` says how often each effect has happened. */
export async function startEffects(): Promise<{ url: string; count(task: string, step: number): number; total(): number }> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = request.url ?? "";
    counts.set(key, (counts.get(key) ?? 0) + 1);
    response.end("done\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    count: (task, step) => counts.get(`/${task}/${step}`) ?? 0,
    total: () => [...counts.values()].reduce((sum, one) => sum + one, 0),
  };
}

/**
 * A model that works on `TASK name`: it calls the outside once per step, and says that it is done. What it answers depends on the conversation
 * alone, so that it can be asked by any process; a step that it has called is never called by it again.
 */
export async function startWorker(home: string, { url, steps, delayMs = 0 }: { url: string; steps: number; delayMs?: number }) {
  return await model(({ body }) => {
    const messages: { role: string; content: unknown }[] = Object(body).messages;
    const [, task] = /TASK ([\w-]+)/.exec(JSON.stringify(messages[0])) ?? [];
    const called = messages.filter(
      ({ role, content }) => role === "assistant" && JSON.stringify(content).includes("tool_use"),
    ).length;
    const usage = { inputTokens: 1_000, outputTokens: 100 };
    if (called >= steps) return { text: `Task ${task} is done.`, usage, delayMs };
    const command = `curl -s ${url}/${task}/${called + 1}`;
    return { calls: [{ name: "Bash", input: { command }, callId: `call_${task}_${called + 1}` }], usage, delayMs };
  }, home);
}

export function taskLines(count: number, more: object = {}): string {
  const lines = Array.from({ length: count }, (_, index) => ({ id: `t${index + 1}`, prompt: `TASK t${index + 1}`, ...more }));
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}
