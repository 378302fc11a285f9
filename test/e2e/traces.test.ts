import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import * as names from "@opentelemetry/semantic-conventions/incubating";
import { projectRoot, run } from "./command.ts";
import { idOf, place, usage } from "./stored-sessions.ts";

type Value = { stringValue?: string; intValue?: string; doubleValue?: number; arrayValue?: { values: Value[] } };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  events: { name: string }[];
  status: { code?: number; message?: string };
};
type Received = { path: string; headers: IncomingMessage["headers"]; body: string };

/** OpenTelemetry's own definitions, as its exporters have them inside. */
const definitions = createRequire(join(projectRoot, "package.json"))("@opentelemetry/otlp-transformer/build/src/generated/root")
  .opentelemetry.proto.collector;

/** Fails unless OpenTelemetry's definitions know every field of it, with its type: what they write of it again is the same. */
function assertOfficial(type: "trace" | "metrics", body: string): void {
  const request =
    type === "trace" ? definitions.trace.v1.ExportTraceServiceRequest : definitions.metrics.v1.ExportMetricsServiceRequest;
  const given = JSON.parse(body, (key, value) =>
    /^(?:traceId|spanId|parentSpanId)$/.test(key) ? Buffer.from(value, "hex").toString("base64") : value,
  );
  const message = request.fromObject(given);
  assert.equal(request.verify(message), null);
  const bytes = request.encode(message).finish();
  const again = request.toObject(request.decode(bytes), { longs: String, bytes: String, enums: Number, json: true });
  assert.deepEqual(JSON.parse(JSON.stringify(again)), withoutEmpty(given));
}

/** What is empty is not written to the wire. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, item]) => !(Array.isArray(item) && item.length === 0));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutEmpty(item)]));
}

async function openCollector(status = 200): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      const body = (request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString("utf8");
      received.push({ path: request.url ?? "", headers: request.headers, body });
      if (status > 0) response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

function spansIn(received: readonly Received[]): Span[] {
  return received.filter(({ path }) => path.endsWith("/v1/traces")).flatMap(({ body }) => spansOf(body));
}

function spansOf(body: string): Span[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function attributeOf({ attributes }: Pick<Span, "attributes">, name: string): unknown {
  const value = attributes.find(({ key }) => key === name)?.value;
  if (!value) return undefined;
  if (value.arrayValue) return value.arrayValue.values.map(({ stringValue }) => stringValue);
  return value.stringValue ?? value.doubleValue ?? Number(value.intValue);
}

const task = { name: "Task", input: { description: "Look", prompt: "Look around", subagent_type: "general-purpose" } };
const bash = { name: "Bash", input: { command: "echo $TRACEPARENT > place.txt" } };
const replies = [
  { text: "I begin.", calls: [bash], usage },
  { text: "I ask.", calls: [task], usage },
  { text: "I look.", calls: [{ name: "Read", input: { file_path: "missing.txt" } }], usage },
  { text: "Seen.", usage },
  { text: "Done.", usage },
];
const flags = ["--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions", "--sandbox", "off", "Work"];

/** One run of a conversation with a command and a subagent, told to a collector. */
async function traced(env: Record<string, string> = {}, status = 200) {
  let asked = 0;
  const its = await place(() => replies[asked++] ?? { text: "More.", usage });
  const collector = await openCollector(status);
  const variables = { ...its.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env };
  const result = await run(["-p", "--output-format", "json", ...flags], { env: variables, cwd: its.here });
  return { ...its, ...collector, result };
}

describe("traces", () => {
  it("have a span for the request at which a turn failed, with its tries and why", async () => {
    const its = await place(() => ({ fail: { code: "provider-overloaded", message: "too much to do" } }));
    const collector = await openCollector(200);
    const env = {
      ...its.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OUTRIDER_RETRY_BASE_MS: "1",
      OUTRIDER_MAX_RETRIES: "2",
    };
    await run(["-p", "--output-format", "json", ...flags], { env, cwd: its.here });
    for (const { path, body } of collector.received) assertOfficial(path === "/v1/traces" ? "trace" : "metrics", body);
    const spans = spansIn(collector.received);
    assert.deepEqual(spans.map(({ name }) => name).sort(), ["chat claude-sonnet-4-5", "invoke_agent outrider"]);
    const [turn, chat] = ["invoke_agent outrider", "chat claude-sonnet-4-5"].map((name) =>
      spans.find((one) => one.name === name),
    );
    assert.ok(turn && chat);
    assert.deepEqual(
      [chat.parentSpanId, chat.status.code, attributeOf(chat, "error.type"), attributeOf(chat, "gen_ai.operation.name")],
      [turn.spanId, 2, "provider-overloaded", "chat"],
    );
    const tries = (chat as { events?: { name: string }[] }).events ?? [];
    assert.deepEqual(
      tries.map(({ name }) => name),
      ["retry", "retry"],
    );
    assert.ok(BigInt(chat.endTimeUnixNano) <= BigInt(turn.endTimeUnixNano));
  });

  it("are agents, answers, tools and subagents one inside the other, as OpenTelemetry's definitions have it", async () => {
    const parent = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
    const { received, result, here } = await traced({
      TRACEPARENT: `00-${parent.traceId}-${parent.spanId}-01`,
      OTEL_SERVICE_NAME: "nightly",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=ci,team=a%20b",
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=secret%3D1",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    });
    const id = idOf(result);
    for (const { path, body } of received) assertOfficial(path === "/v1/traces" ? "trace" : "metrics", body);
    assert.ok(received.every(({ headers }) => headers["x-key"] === "secret=1" && headers["content-type"] === "application/json"));
    const resource = JSON.parse(received[0]?.body ?? "").resourceSpans[0].resource;
    assert.deepEqual(
      ["service.name", "deployment.environment.name", "team"].map((name) => attributeOf(resource, name)),
      ["nightly", "ci", "a b"],
    );
    const spans = spansIn(received);
    const tree = (above: string | undefined): unknown[] =>
      spans
        .filter(({ parentSpanId }) => parentSpanId === above)
        .sort((one, other) => (BigInt(one.endTimeUnixNano) < BigInt(other.endTimeUnixNano) ? -1 : 1))
        .map(({ name, spanId }) => (tree(spanId).length > 0 ? [name, tree(spanId)] : name));
    const chat = "chat claude-sonnet-4-5";
    assert.deepEqual(tree(parent.spanId), [
      [
        "invoke_agent outrider",
        [
          chat,
          "execute_tool Bash",
          chat,
          ["execute_tool Task", [["invoke_agent general-purpose", [chat, "execute_tool Read", chat]]]],
          chat,
        ],
      ],
    ]);
    assert.ok(spans.every(({ traceId }) => traceId === parent.traceId));
    const root = spans.find(({ parentSpanId }) => parentSpanId === parent.spanId) as Span;
    assert.deepEqual(
      [
        names.ATTR_GEN_AI_OPERATION_NAME,
        names.ATTR_GEN_AI_PROVIDER_NAME,
        names.ATTR_GEN_AI_CONVERSATION_ID,
        names.ATTR_GEN_AI_USAGE_INPUT_TOKENS,
        names.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
      ].map((name) => attributeOf(root, name)),
      ["invoke_agent", "anthropic", id, 300, 30],
      "of the conversation itself; the subagent's are on its own span",
    );
    assert.equal(attributeOf(root, "outrider.cost_usd"), 0.00135);
    const failed = spans.find(({ name }) => name === "execute_tool Read") as Span;
    assert.deepEqual([failed.status.code, attributeOf(failed, "error.type")], [2, "error"]);
    const call = spans.find(({ name }) => name === "execute_tool Bash") as Span;
    assert.equal(
      readFileSync(join(here, "place.txt"), "utf8"),
      `00-${parent.traceId}-${call.spanId}-01\n`,
      "a command knows its place",
    );
    const known = new Set<unknown>(Object.values(names));
    for (const { attributes } of spans)
      for (const { key } of attributes) assert.ok(known.has(key) || /^(?:outrider\.|error\.type$)/.test(key), key);
    assert.doesNotMatch(received.map(({ body }) => body).join(""), /Look around|I begin/, "words are not told");
  });

  it("have metrics, and words where they are asked for", async () => {
    const { received } = await traced({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" });
    const { resourceMetrics } = JSON.parse(received.filter(({ path }) => path === "/v1/metrics").at(-1)?.body ?? "");
    const metrics = resourceMetrics[0].scopeMetrics[0].metrics as {
      name: string;
      histogram?: { dataPoints: { count: string }[] };
    }[];
    assert.deepEqual(
      metrics.map(({ name, histogram }) => [name, histogram?.dataPoints.map(({ count }) => count)]),
      [
        [names.METRIC_GEN_AI_CLIENT_TOKEN_USAGE, ["5", "5"]],
        [names.METRIC_GEN_AI_CLIENT_OPERATION_DURATION, ["5"]],
        [names.METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK, ["5"]],
        ["outrider.cost", undefined],
      ],
    );
    const bash = spansIn(received).find(({ name }) => name === "execute_tool Bash") as Span;
    assert.match(String(attributeOf(bash, names.ATTR_GEN_AI_TOOL_CALL_ARGUMENTS)), /echo \$TRACEPARENT/);
    const said = spansIn(received).map((span) => attributeOf(span, names.ATTR_GEN_AI_OUTPUT_MESSAGES));
    assert.ok(said.some((text) => JSON.stringify(JSON.parse(String(text ?? "[]"))).includes("I begin.")));
  });

  it("are the same when they are exported from the journal", async () => {
    const { received, result, env } = await traced();
    const { stdout, code } = await run(["trajectory", "export", idOf(result), "--format", "otlp"], { env });
    assert.equal(code, 0);
    assertOfficial("trace", stdout);
    const sorted = (spans: Span[]): Span[] => spans.sort((one, other) => (one.spanId < other.spanId ? -1 : 1));
    assert.deepEqual(sorted(spansOf(stdout)), sorted(spansIn(received)));
  });

  it("go nowhere when they are switched off", async () => {
    for (const env of [{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }]) {
      const { received, result } = await traced(env);
      idOf(result);
      assert.deepEqual(received, []);
    }
    const { received } = await traced({ TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00" });
    assert.deepEqual(spansIn(received), [], "who has started it does not want this trace");
  });

  it("never make a run fail, and are complained about once", async () => {
    for (const status of [400, 0]) {
      const { result } = await traced({ OTEL_METRICS_EXPORTER: "none" }, status);
      idOf(result);
      assert.equal(result.stderr.match(/Traces could not be sent/g)?.length, 1, result.stderr);
    }
    const { result } = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
    idOf(result);
    assert.match(result.stderr, /Traces could not be sent: http:\/\/127\.0\.0\.1:9\/v1\/traces: /);
  });

  it("tell a server's tool where it stands", async () => {
    const server = join(projectRoot, "test/fixtures/meta-server.mjs");
    const its = await place(
      (() => {
        let asked = 0;
        const steps = [
          { text: "Ask.", calls: [{ name: "mcp__meta__look", input: {} }], usage },
          { text: "Done.", usage },
        ];
        return () => steps[asked++] ?? { text: "More." };
      })(),
    );
    const config = JSON.stringify({ mcpServers: { meta: { command: process.execPath, args: [server] } } });
    const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const args = ["-p", "--output-format", "json", "--mcp-config", config, "--allowedTools=mcp__meta__look", "Look"];
    idOf(await run(args, { env: { ...its.env, TRACEPARENT }, cwd: its.here }));
    assert.match(JSON.stringify(its.server.requests.at(-1)?.body), new RegExp(TRACEPARENT));
  });
});
