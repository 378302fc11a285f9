import { agent as createApp, type AgentConnection, RequestError, type Stream } from "@agentclientprotocol/sdk";
import { AcpAgent, type AcpClient, type AcpHost, toRpcError } from "@outrider/runtime/acp";
import { createRedactor } from "@outrider/runtime/host";

type Serving = {
  readonly host: AcpHost;
  /** `end` ends all sessions. */
  readonly openStream: (end: () => Promise<void>) => Stream;
};

/** The official package around our agent: requests that fit the protocol's schemas, and our errors in its words. */
export function serveAcp({ host, openStream }: Serving): { connection: AgentConnection; agent: AcpAgent } {
  const redactor = createRedactor({ env: process.env });
  const client: AcpClient = {
    update: (sessionId, update) =>
      untilClosed(connection.client.notify("session/update", { sessionId, update }), connection.signal),
    askPermission: (question, signal) =>
      connection.client.request("session/request_permission", question, {
        cancellationSignal: signal,
        stopWaitingOnCancel: true,
      }),
    request: (method, params) => connection.client.request(method, params),
  };
  const agent = new AcpAgent(host, client);
  const answer = async <T>(work: T | Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      const { code, message, data } = toRpcError(error);
      throw new RequestError(code, redactor.text(message), redactor.value(data));
    }
  };
  const app = createApp({ name: "outrider" })
    .onRequest("initialize", ({ params }) => agent.initialize(params))
    .onRequest("authenticate", ({ params }) => answer(agent.authenticate(params.methodId)))
    .onRequest("session/new", ({ params }) => answer(agent.newSession(params)))
    .onRequest("session/load", ({ params }) => answer(agent.loadSession(params)))
    .onRequest("session/resume", ({ params }) => answer(agent.resumeSession(params)))
    .onRequest("session/fork", toForkRequest, ({ params }) => answer(agent.forkSession(params)))
    .onRequest("session/list", ({ params }) => answer(agent.listSessions(params)))
    .onRequest("session/close", ({ params }) => answer(agent.closeSession(params.sessionId)))
    .onRequest("session/delete", ({ params }) => answer(agent.deleteSession(params.sessionId)))
    .onRequest("session/set_mode", ({ params }) => answer(agent.setMode(params)))
    .onRequest("session/set_config_option", ({ params }) => answer(agent.setConfigOption(params)))
    .onRequest("session/prompt", ({ params, signal }) => answer(agent.prompt(params, signal)))
    .onNotification("session/cancel", ({ params }) => agent.cancel(params.sessionId));
  const connection = app.connect(openStream(() => agent.close()));
  return { connection, agent };
}

type ForkRequest = Parameters<AcpAgent["forkSession"]>[0];

/** The official package has it among what is not stable: what a copy needs is what a stored session needs that is resumed. */
function toForkRequest(params: unknown): ForkRequest {
  const { sessionId, cwd, additionalDirectories = [], mcpServers = [] } = Object(params) as Record<string, unknown>;
  const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((item) => typeof item === "string");
  const isServers = Array.isArray(mcpServers) && mcpServers.every((server) => typeof server?.name === "string");
  if (typeof sessionId !== "string" || typeof cwd !== "string" || !isTexts(additionalDirectories) || !isServers)
    throw RequestError.invalidParams(undefined, "session/fork takes sessionId, cwd, additionalDirectories and mcpServers");
  return { sessionId, cwd, additionalDirectories, mcpServers } as ForkRequest; // just checked; a server is checked where it is reached
}

/** What a client never reads is not waited for any more when it has left. */
async function untilClosed(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let leave = (): void => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(new Error("The client has left"));
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  work.catch(() => {}); // told once, by the race
  await Promise.race([work, left]).finally(() => signal.removeEventListener("abort", leave));
}
