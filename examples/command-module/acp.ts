// node acp.ts: an agent for editors, a message to a line on stdin and stdout. Sessions, prompts and what happens in them; an agent for every
// client puts the official package of the protocol in the place of these few lines.
import { createInterface } from "node:readline";
import { AcpAgent, type AcpHost, listCommands, type PlannedSession, type SessionWish, toRpcError } from "@outrider/runtime/acp";
import { openHost } from "./host.ts";

const host = openHost();

async function plan({ cwd }: SessionWish): Promise<PlannedSession> {
  const plan = await host.plan({ cwd, persistent: false });
  const { sessionId, options } = plan;
  const { provider } = options;
  return {
    sessionId,
    cwd: options.cwd,
    provider: provider.name,
    model: options.model ?? provider.model,
    models: [],
    permissionMode: options.permissionMode ?? "default",
    mayBypass: false,
    answersPermissions: false,
    commands: listCommands(options),
    price: () => null,
    withModel: async () => await Promise.reject(new Error("There is one model")),
    async start(permissionMode) {
      await plan.begin();
      return (await host.openPlan(plan, { options: { permissionMode, wakes: false } })).session;
    },
    close: async () => void (await host.close(sessionId)),
  };
}

const acpHost: AcpHost = {
  version: "1.0.0",
  store: undefined,
  plan,
  checkKey: async () => {},
  removeSession: async () => {},
  warn: (line) => process.stderr.write(`${line}\n`),
};

const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const agent = new AcpAgent(acpHost, {
  update: async (sessionId, update) => send({ method: "session/update", params: { sessionId, update } }),
  askPermission: async () => await Promise.reject(new Error("Nobody is asked")),
});
const { signal } = new AbortController();
const methods: Readonly<Record<string, (params: never) => unknown>> = {
  initialize: (params) => agent.initialize(params),
  "session/new": (params) => agent.newSession(params),
  "session/prompt": (params) => agent.prompt(params, signal),
  "session/cancel": ({ sessionId }: { sessionId: string }) => agent.cancel(sessionId),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: never };
  try {
    const run = methods[method];
    if (!run) throw new Error(`There is no ${method} here`);
    const result = (await run(params)) ?? {};
    if (id !== undefined) send({ id, result });
  } catch (error) {
    if (id !== undefined) send({ id, error: toRpcError(error) });
  }
}
await agent.close();
await host.shutdown();
