import assert from "node:assert/strict";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { JsonObject } from "../../packages/runtime/src/protocol/content.ts";
import { type RecordedRequest, type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, projectRoot, type Run, run, tempFolder } from "../e2e/command.ts";
import { images } from "./images.ts";
import { imagesOf, toolsOf } from "./strict-wire.ts";

type Wire = {
  readonly name: string;
  readonly profile: JsonObject;
  readonly path: string;
  /** How this provider names the image in the result of the first call. */
  readonly complaint: JsonObject;
  /** How it complains about a tool that is offered. */
  toolComplaint(index: number): JsonObject;
};

const openAI = (param: string): JsonObject => ({
  error: { message: "Invalid input.", type: "invalid_request_error", param, code: null },
});
const wires: Wire[] = [
  {
    name: "anthropic",
    profile: { type: "anthropic", model: "claude-sonnet-4-6" },
    path: "",
    complaint: {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "messages.2.content.0.tool_result.content.0.image.source.base64.data: Could not process image",
      },
    },
    toolComplaint: (index) => ({
      type: "error",
      error: { type: "invalid_request_error", message: `tools.${index}.custom.input_schema: JSON schema is invalid` },
    }),
  },
  {
    name: "openai over Chat Completions",
    profile: { type: "openai-compatible", model: "my-model" },
    path: "/v1",
    complaint: openAI("messages.[4].content.[1].image_url"),
    toolComplaint: (index) => openAI(`tools[${index}].function.parameters`),
  },
  {
    name: "openai over Responses",
    profile: { type: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } },
    path: "/v1",
    complaint: openAI("input[2].output[0].image_url"),
    toolComplaint: (index) => openAI(`tools[${index}].parameters`),
  },
  {
    name: "gemini",
    profile: { type: "gemini", model: "gemini-3.5-flash" },
    path: "",
    complaint: {
      error: {
        code: 400,
        message: "Unable to process input image. Please retry or report in https://example.com",
        status: "INVALID_ARGUMENT",
      },
    },
    toolComplaint: (index) => ({
      error: {
        code: 400,
        message: `* GenerateContentRequest.tools[0].function_declarations[${index}].parameters: odd`,
        status: "INVALID_ARGUMENT",
      },
    }),
  },
];

const server = join(projectRoot, "test/border/odd-mcp-server.mjs");

async function place({ profile, path }: Wire, reply: (request: RecordedRequest, index: number) => ServerReply) {
  const home = tempFolder("home");
  const cwd = realpathSync(tempFolder("project"));
  const model = await startModelServer({ replies: reply });
  after(() => model.close());
  const work = { ...profile, apiKey: "$ENV:WORK_KEY", baseURL: model.url + path };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ currentProvider: "work", providers: { work } }));
  const config = JSON.stringify({ mcpServers: { odd: { command: process.execPath, args: [server] } } });
  const env = { OUTRIDER_HOME: home, WORK_KEY: "k", OUTRIDER_RETRY_BASE_MS: "5" };
  const askPlain = (...args: string[]): Promise<Run> => run(["-p", ...args, "--output-format", "json"], { env, cwd });
  const ask = (...args: string[]): Promise<Run> => askPlain(...args, "--mcp-config", config, "--allowedTools", "mcp__odd");
  return { home, cwd, model, ask, askPlain };
}

const isAboutLiar: ServerReply = { calls: [{ name: "mcp__odd__liar" }] };
const resultOf = ({ stdout }: Run): JsonObject => (lines(stdout).at(-1) ?? {}) as JsonObject;
const conversation = (body: unknown): string => {
  const { messages, input, contents } = body as Record<string, object[]>;
  return JSON.stringify(messages ?? input ?? contents).replace(/,"cache_control":\{[^}]*\}/g, "");
};

describe("a request that the provider refuses because of one part", () => {
  for (const wire of wires) {
    it(`is made again without it, and so it is when the session is continued: ${wire.name}`, async () => {
      const { home, model, ask } = await place(wire, ({ body }, index) =>
        index === 0
          ? isAboutLiar
          : imagesOf(body).length > 0
            ? { status: 400, body: wire.complaint }
            : { text: `answer ${index}` },
      );
      const ended = await ask("take a shot");
      assert.deepEqual([ended.code, resultOf(ended)["result"]], [0, "answer 2"], ended.stdout + ended.stderr);
      const journal = readFileSync(join(home, "sessions", `${resultOf(ended)["session_id"]}.jsonl`), "utf8");
      assert.match(
        journal,
        /"warning.raised","message":"The provider refused an image in the result of mcp__odd__liar\. It is left out/,
      );
      assert.match(journal, /"parts.refused","parts":\[\{"message":2,"part":0,"item":0\}\],"note":"\(A part stood here/);
      assert.equal(model.requests.length, 3);
      assert.match(conversation(model.requests[2]?.body), /A part stood here that is left out/);
      const again = await ask("--continue", "and now?");
      assert.deepEqual([again.code, model.requests.length], [0, 4], again.stdout + again.stderr);
      assert.ok(conversation(model.requests[3]?.body).startsWith(conversation(model.requests[2]?.body).slice(0, -1)));
    });

    it(`fails when it is refused again: ${wire.name}`, async () => {
      const { model, ask } = await place(wire, (_, index) => (index === 0 ? isAboutLiar : { status: 400, body: wire.complaint }));
      const ended = await ask("take a shot");
      assert.deepEqual([ended.code === 0, resultOf(ended)["is_error"], model.requests.length], [false, true, 3], ended.stdout);
      assert.equal((resultOf(ended)["error"] as JsonObject)["code"], "provider-bad-request");
    });

    it(`offers a tool without the schema that was refused: ${wire.name}`, async () => {
      const { model, ask } = await place(wire, ({ body }, index) => {
        const tools = toolsOf(body);
        const either = tools.findIndex(({ name }) => name === "mcp__odd__either");
        const isOpen = !JSON.stringify(tools[either]?.schema ?? {}).includes("path");
        return isOpen ? { text: `answer ${index}` } : { status: 400, body: wire.toolComplaint(either) };
      });
      const ended = await ask("go");
      assert.deepEqual(
        [ended.code, resultOf(ended)["result"], model.requests.length],
        [0, "answer 1", 2],
        ended.stdout + ended.stderr,
      );
    });
  }
});

describe("sealed thinking that the provider cannot read", () => {
  const seals = [
    {
      wire: "openai over Responses",
      seal: /encrypted-/,
      complaint: {
        error: {
          message: "The encrypted content encr... could not be verified.",
          type: "invalid_request_error",
          param: "input[1]",
          code: "invalid_encrypted_content",
        },
      },
    },
    {
      wire: "gemini",
      seal: /"thoughtSignature":"(?!skip_thought_signature_validator)/,
      complaint: { error: { code: 400, message: "Thought signature is not valid.", status: "INVALID_ARGUMENT" } },
    },
  ];
  for (const { wire: name, seal, complaint } of seals) {
    it(`is left out when a session is continued, and words and calls are not: ${name}`, async () => {
      const wire = wires.find((one) => one.name === name);
      assert.ok(wire);
      const { home, model, ask } = await place(wire, ({ body }, index) => {
        if (index === 0) return { reasoning: "look first", calls: [{ name: "mcp__odd__liar", input: { at: "there" } }] };
        if (index === 1) return { reasoning: "enough", text: "first answer" };
        return seal.test(conversation(body)) ? { status: 400, body: complaint } : { text: `answer ${index}` };
      });
      const begun = await ask("take a shot");
      assert.equal(begun.code, 0, begun.stdout + begun.stderr);
      const ended = await ask("--continue", "go on");
      assert.deepEqual([ended.code, resultOf(ended)["result"]], [0, "answer 3"], ended.stdout + ended.stderr);
      const journal = readFileSync(join(home, "sessions", `${resultOf(ended)["session_id"]}.jsonl`), "utf8");
      assert.match(
        journal,
        /"warning.raised","message":"The provider refused the sealed thinking of earlier answers\. It is left out/,
      );
      const sent = conversation(model.requests[3]?.body);
      assert.match(sent, /there.*first answer/);
      assert.doesNotMatch(sent, /A part stood here/);
      const again = await ask("--continue", "and now?");
      assert.deepEqual([again.code, model.requests.length], [0, 5], again.stdout + again.stderr);
      assert.ok(conversation(model.requests[4]?.body).startsWith(sent.slice(0, -1)));
    });
  }
});

describe("the tools of a request", () => {
  for (const wire of wires) {
    it(`are the same bytes before and after an image came in: ${wire.name}`, async () => {
      const { cwd, model, askPlain } = await place(wire, (_, index) =>
        index === 0 ? { calls: [{ name: "Read", input: { file_path: "x.png" } }] } : { text: "seen" },
      );
      writeFileSync(join(cwd, "x.png"), Buffer.from(images.png, "base64"));
      const ended = await askPlain("look");
      assert.deepEqual([ended.code, model.requests.length], [0, 2], ended.stdout + ended.stderr);
      const [before, after] = model.requests.map(({ body }) => body as JsonObject);
      assert.equal(imagesOf(after).length, 1);
      assert.equal(JSON.stringify(after?.["tools"]), JSON.stringify(before?.["tools"]));
    });
  }
});
