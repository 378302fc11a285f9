import type { Http2Server, ServerHttp2Session } from "node:http2";
import { createServer } from "node:http2";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "@outrider/runtime";
import type { WorkflowContext, WorkflowSharedContext } from "@restatedev/restate-sdk";
import { type Approval, type DurableRun, RunSuspended, toKeptFailure } from "../durable/durable.ts";
import { governorName, governorObject } from "./governor-object.ts";
import { loadSdk, type RestateSdk } from "./load-sdk.ts";
import { type Ended, RestateContext } from "./restate-context.ts";
import { tenantObject, tenantsName } from "./tenant-object.ts";

export type RestateWorkerOptions = {
  readonly runs: readonly DurableRun[];
  /** The name of the workflow in the engine; `outrider` when absent. Fleets that share an engine have different ones. */
  readonly service?: string | undefined;
  readonly host?: string | undefined;
  /** Any free one when absent. */
  readonly port?: number | undefined;
  readonly onProblem?: ((message: string) => void) | undefined;
};

export interface RestateWorker {
  readonly port: number;
  /** How many runs are worked on at this moment. */
  readonly running: number;
  /** Begins no more steps, and ends when those under way are done, or are stopped after `graceMs`. The engine gives their runs to others. */
  close(graceMs?: number): Promise<void>;
  /** As if the process were killed. */
  kill(): void;
}

/** `tenant`: whose run it is. */
export type RunInput = { readonly run: string; readonly input: JsonValue; readonly tenant?: string | undefined };

export const defaultService = "outrider";
const day = 24 * 60 * 60 * 1000;

/** Serves runs to the engine over HTTP/2. It does nothing until the engine calls. */
export async function openRestateWorker(options: RestateWorkerOptions): Promise<RestateWorker> {
  const sdk = await loadSdk();
  const { runs, service = defaultService, host = "127.0.0.1", port = 0, onProblem = () => {} } = options;
  const leaving = new AbortController();
  let running = 0;
  let isDraining = false;
  const byName = new Map(runs.map((run) => [run.name, run]));
  const handle = async (engine: WorkflowContext, { run: name, input, tenant }: RunInput): Promise<Ended> => {
    const run = byName.get(name);
    if (!run) throw new Error(`This worker has no run named ${name}`); // another version of the worker may
    const context = new RestateContext(engine, {
      sdk,
      service,
      runId: engine.key,
      leaving: leaving.signal,
      isDraining: () => isDraining,
    });
    running++;
    try {
      await context.begin();
      if (tenant !== undefined) await context.enter(tenant);
      const value = (await run.run(context, input)) ?? null;
      if (tenant !== undefined) context.leave(tenant);
      return { type: "ended", value };
    } catch (error) {
      const isCancelled = Object(error).name === "RunCancelled";
      if (!isCancelled && mustGoOn(sdk, error, context.signal)) throw error;
      if (tenant !== undefined) context.leave(tenant);
      return { type: "failed", failure: toKeptFailure(error) };
    } finally {
      running--;
    }
  };
  const answer = async (engine: WorkflowSharedContext, told: { name: string; approval: Approval }): Promise<void> => {
    const promise = engine.promise<Approval>(told.name);
    if ((await promise.peek()) === undefined) await promise.resolve(told.approval);
  };
  const workflow = sdk.workflow({
    name: service,
    handlers: { run: handle, answer },
    // A step may take hours: with the engine's own limits it would be cut off and repeated for ever.
    options: {
      inactivityTimeout: day,
      abortTimeout: day,
      workflowRetention: 7 * day,
      journalRetention: day,
      retryPolicy: { initialInterval: 50, exponentiationFactor: 2, maxInterval: 5_000, maxAttempts: 1_000_000 },
    },
  });
  const logger = ({ level }: { level: string }, ...words: unknown[]): void => {
    if (level === "error" && !leaving.signal.aborted) onProblem(words.map(String).join(" "));
  };
  const services = [workflow, governorObject(sdk, governorName(service)), tenantObject(sdk, tenantsName(service))];
  const server = createServer(sdk.createEndpointHandler({ services, logger: logger as never })); // of its logger only the level is used
  const sessions = followSessions(server);
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get running() {
      return running;
    },
    async close(graceMs = 0) {
      isDraining = true;
      server.close();
      for (const session of sessions) session.close(); // what is under way goes on, nothing new comes
      const until = Date.now() + graceMs;
      while (running > 0 && Date.now() < until) await delay(50);
      leaving.abort(new RunSuspended("all"));
      for (let rounds = 0; running > 0 && rounds < 100; rounds++) await delay(50);
      for (const session of sessions) session.destroy();
    },
    kill() {
      isDraining = true;
      leaving.abort(new RunSuspended("all"));
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

/** Whether the engine is to try again, here or elsewhere, instead of keeping this as the run's end. */
function mustGoOn(sdk: RestateSdk, error: unknown, signal: AbortSignal): boolean {
  return error instanceof RunSuspended || signal.aborted || sdk.internal.isSuspendedError(error);
}

function followSessions(server: Http2Server): Set<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  server.on("connection", (socket) => socket.setNoDelay(true)); // Nagle's algorithm makes every step ten times slower
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  return sessions;
}
