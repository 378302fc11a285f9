import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Desk } from "./run-desk.ts";

export type SideOptions = {
  readonly desk: Desk;
  readonly host: string;
  readonly port: number;
  /** Whether the workers take runs: the engine is there, and they do not drain. */
  readonly isReady: () => Promise<boolean>;
  /** How many runs wait in the engine. */
  readonly waiting: () => Promise<number>;
};

export interface SideServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Bytes that a reader of a run may be behind; one that is further behind is let go, and may come again. */
const maxBehind = 1_000_000;

/** What workers show beside the engine: health for probes, figures for a collector, and runs as they go. */
export async function openSideServer(options: SideOptions): Promise<SideServer> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(`${error instanceof Error ? error.message : String(error)}\n`);
    });
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(options: SideOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://side");
  const [, runId] = /^\/runs\/([^/]+)\/events$/.exec(pathname) ?? [];
  if (request.method !== "GET") return end(response, 405, "Only GET\n");
  if (runId !== undefined) return stream(options, decodeURIComponent(runId), response);
  switch (pathname) {
    case "/healthz":
      return end(response, 200, "ok\n");
    case "/readyz": {
      const isReady = await options.isReady();
      return end(response, isReady ? 200 : 503, isReady ? "ok\n" : "not ready\n");
    }
    case "/metrics":
      return end(
        response,
        200,
        metricsText(options.desk, await options.waiting().catch(() => undefined)),
        "text/plain; version=0.0.4",
      );
    case "/queue":
      return end(response, 200, `${JSON.stringify({ waiting: await options.waiting() })}\n`, "application/json");
    default:
      return end(response, 404, "There is /healthz, /readyz, /metrics, /queue and /runs/ID/events\n");
  }
}

function end(response: ServerResponse, status: number, text: string, type = "text/plain"): void {
  response.writeHead(status, { "content-type": type });
  response.end(text);
}

function stream({ desk }: SideOptions, runId: string, response: ServerResponse): void {
  const stop = desk.watch(
    runId,
    (event) => {
      response.write(`data: ${JSON.stringify(event)}\n\n`);
      if (response.writableLength > maxBehind) response.destroy();
    },
    () => response.end(),
  );
  if (!stop) return end(response, 404, `Run ${runId} is not here\n`);
  response.on("close", stop);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
}

/** In the text format that Prometheus and OpenMetrics collectors read. */
function metricsText(desk: Desk, waiting: number | undefined): string {
  const { begun, ended, left, answers, calls, inputTokens, outputTokens } = desk.counts();
  const rows: readonly (readonly [name: string, type: "gauge" | "counter", help: string, values: readonly string[]])[] = [
    ["outrider_worker_runs", "gauge", "Runs that are worked on now.", [` ${desk.running()}`]],
    ["outrider_worker_runs_begun_total", "counter", "Runs that were taken up, also again.", [` ${begun}`]],
    [
      "outrider_worker_runs_ended_total",
      "counter",
      "Runs that came to their end here, or were given back to the engine.",
      [`{how="ended"} ${ended}`, `{how="given_back"} ${left}`],
    ],
    ["outrider_worker_answers_total", "counter", "Answers of models.", [` ${answers}`]],
    ["outrider_worker_calls_total", "counter", "Calls of tools that have ended.", [` ${calls}`]],
    [
      "outrider_worker_tokens_total",
      "counter",
      "Tokens of models.",
      [`{direction="in"} ${inputTokens}`, `{direction="out"} ${outputTokens}`],
    ],
    ...(waiting === undefined
      ? []
      : [["outrider_fleet_runs_waiting", "gauge", "Runs that wait in the engine for a worker.", [` ${waiting}`]] as const]),
  ];
  return rows
    .map(
      ([name, type, help, values]) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values.map((value) => `${name}${value}\n`).join("")}`,
    )
    .join("");
}
