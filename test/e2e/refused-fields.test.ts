import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { JsonObject } from "../../packages/runtime/src/protocol/content.ts";
import { startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, run, tempFolder } from "./command.ts";

const anthropic = (message: string): JsonObject => ({ type: "error", error: { type: "invalid_request_error", message } });
const openai = (param: string, message: string): JsonObject => ({
  error: { message, type: "invalid_request_error", param, code: "unsupported_parameter" },
});
const google = (message: string): JsonObject => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });

type Row = {
  readonly what: string;
  readonly profile: JsonObject;
  readonly path?: string;
  readonly flags?: readonly string[];
  readonly complaint: JsonObject;
  /** The field as it is told, and how to find it in a body. */
  readonly field: string;
  at(body: JsonObject): unknown;
};

const inside =
  (...names: string[]) =>
  (body: JsonObject): unknown =>
    names.reduce<unknown>((value, name) => Object(value)[name], body);

const rows: Row[] = [
  {
    what: "a temperature of a model nobody knows, at Anthropic",
    profile: { type: "anthropic", model: "my-model" },
    flags: ["--temperature", "0.5"],
    complaint: anthropic("temperature: Extra inputs are not permitted"),
    field: "temperature",
    at: inside("temperature"),
  },
  {
    what: "a control of thinking that a gateway does not know",
    profile: { type: "anthropic", model: "claude-sonnet-5-5" },
    complaint: anthropic("thinking.block_binding: Extra inputs are not permitted"),
    field: "thinking.block_binding",
    at: inside("thinking", "block_binding"),
  },
  {
    what: "a kind of thinking, which goes as a whole",
    profile: { type: "anthropic", model: "claude-sonnet-5-5" },
    complaint: anthropic('"thinking.type.adaptive" is not supported for this model. Use "thinking.type" "enabled"'),
    field: "thinking",
    at: inside("thinking"),
  },
  {
    what: "an effort over Responses",
    profile: { type: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } },
    path: "/v1",
    flags: ["--effort", "xhigh"],
    complaint: openai("reasoning.effort", "Unsupported value: 'xhigh' is not supported with this model."),
    field: "reasoning.effort",
    at: inside("reasoning", "effort"),
  },
  {
    what: "an effort over Chat Completions",
    profile: { type: "openai-compatible", model: "my-model" },
    path: "/v1",
    flags: ["--effort", "low"],
    complaint: openai("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"),
    field: "reasoning_effort",
    at: inside("reasoning_effort"),
  },
  {
    what: "an argument that is only named in words",
    profile: { type: "openai-compatible", model: "my-model" },
    path: "/v1",
    complaint: { error: { message: "Unrecognized request argument supplied: stream_options", param: null, code: null } },
    field: "stream_options",
    at: inside("stream_options"),
  },
  {
    what: "a limit that another field has taken the place of",
    profile: { type: "openai-compatible", model: "my-model" },
    path: "/v1",
    flags: ["--max-tokens", "1000"],
    complaint: openai("max_tokens", "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
    field: "max_tokens",
    at: inside("max_tokens"),
  },
  {
    what: "an effort that Anthropic calls a parameter",
    profile: { type: "anthropic", model: "claude-opus-5" },
    flags: ["--effort", "low"],
    complaint: anthropic("This model does not support the effort parameter."),
    field: "output_config.effort",
    at: inside("output_config", "effort"),
  },
  {
    what: "a level at Google",
    profile: { type: "gemini", model: "gemini-3.8-flash" },
    flags: ["--effort", "low"],
    complaint: google("Thinking level is not supported for this model."),
    field: "generationConfig.thinkingConfig.thinkingLevel",
    at: inside("generationConfig", "thinkingConfig", "thinkingLevel"),
  },
];

describe("a field that the provider refuses", { timeout: 120_000 }, () => {
  for (const { what, profile, path = "", flags = [], complaint, field, at } of rows) {
    it(`is left out from then on, and told: ${what}`, async () => {
      const server = await startModelServer({
        replies: ({ body }, index) => {
          if (at(body as JsonObject) !== undefined) return { status: 400, body: JSON.stringify(complaint) };
          return index === 1 ? { calls: [{ name: "Glob", input: { pattern: "*" } }] } : { text: "done" };
        },
      });
      after(() => server.close());
      const home = tempFolder("refused");
      const settings = { currentProvider: "p", providers: { p: { ...profile, apiKey: "k", baseURL: server.url + path } } };
      writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
      const ended = await run(["-p", "go", ...flags, "--output-format", "json"], { env: { OUTRIDER_HOME: home }, cwd: home });
      assert.equal(ended.code, 0, ended.stderr);
      assert.deepEqual(
        server.requests.map(({ body }) => at(body as JsonObject) !== undefined),
        [true, false, false],
      );
      const [warning = ""] = (lines(ended.stdout).at(-1)?.["warnings"] ?? []) as string[];
      assert.ok(warning.includes(`refuses ${field} for ${profile["model"]}: it is asked without`), warning || ended.stderr);
    });
  }

  it("is told as it is where leaving it out does not help", async () => {
    const server = await startModelServer({
      replies: () => ({ status: 400, body: JSON.stringify(anthropic("thinking.type: is not supported")) }),
    });
    after(() => server.close());
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: server.url, OUTRIDER_HOME: tempFolder("refused") };
    const ended = await run(["-p", "go"], { env });
    assert.deepEqual([ended.code, server.requests.length], [1, 2]);
    assert.match(ended.stderr, /thinking\.type: is not supported/);
  });

  it("a schema is told in words instead", async () => {
    const server = await startModelServer({
      replies: ({ body }) =>
        JSON.stringify(body).includes("json_schema")
          ? { status: 400, body: JSON.stringify(anthropic("output_config.format: Extra inputs are not permitted")) }
          : { text: '{"n":1}' },
    });
    after(() => server.close());
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: server.url, OUTRIDER_HOME: tempFolder("refused") };
    const schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}';
    const ended = await run(["-p", "go", "--json-schema", schema, "--output-format", "json"], { env });
    assert.deepEqual([ended.code, lines(ended.stdout).at(-1)?.["structured_output"]], [0, { n: 1 }], ended.stderr);
    assert.match(JSON.stringify(server.requests[1]?.body), /fits this JSON Schema/);
  });
});
