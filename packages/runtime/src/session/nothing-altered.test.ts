import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text as textOfStream } from "node:stream/consumers";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { createMemoryStore } from "../journal/memory-store.ts";
import { createScriptedProvider } from "../model/scripted.ts";
import type { JsonObject, JsonValue } from "../protocol/content.ts";
import { defineTool } from "../tools/tool.ts";
import { createClaudeFormat, loadPartialMessages } from "../transports/headless/claude-format.ts";
import { LineOutput } from "../transports/headless/line-output.ts";
import { runPrompt } from "../transports/headless/run-prompt.ts";
import { createRedactor } from "../util/redact.ts";
import { InteractiveSession } from "./interactive-session.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-unaltered-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const letters = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
const word = (length: number) => fc.array(letters, { minLength: length, maxLength: length }).map((list) => list.join(""));

/** What issuers give out, and what stands in the environment of this machine. */
const secretOf = fc.oneof(
  word(36).map((rest) => `ghp_${rest}`),
  word(40).map((rest) => `sk-ant-api03-${rest}`),
  word(20).map((rest) => `AKIA${rest.toUpperCase().slice(0, 16)}`),
  fc.tuple(word(20), word(30), word(43)).map(([head, body, seal]) => `eyJ${head}.eyJ${body}.${seal}`),
);

/** How a call comes to be allowed, and with which input. */
const ways = [
  "asked",
  "asked, answered with what was asked",
  "asked, answered with what was shown",
  "hook",
  "hook sends it back",
] as const;

/** A JSON object with the secrets somewhere in its texts. */
function inputWith(secrets: readonly string[]): fc.Arbitrary<JsonObject> {
  const piece = fc.oneof(
    fc.constantFrom(...secrets),
    fc.constantFrom(" ", "\n", "x ", '"', "key: ", "{", "é", "[redacted:x]", "\\"),
  );
  const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(" "));
  const names = fc.constantFrom("a", "b", "content", "type", "data", "providerMetadata");
  const objectOf = (value: fc.Arbitrary<JsonValue>) => fc.dictionary(names, value, { maxKeys: 4, noNullPrototype: true });
  const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.constantFrom(1, null, true),
      fc.array(tie("tree"), { maxLength: 3 }),
      objectOf(tie("tree")),
    ),
  }));
  return objectOf(tree);
}

const cases = fc
  .tuple(fc.array(secretOf, { minLength: 1, maxLength: 2 }), word(16))
  .chain(([shaped, known]) =>
    fc.tuple(fc.constant(shaped), fc.constant(known), inputWith([...shaped, known]), fc.constantFrom(...ways)),
  );

describe("whatever the input of a call is", () => {
  it("it is run exactly as the model made it, and no secret is stored, printed or sent", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ([shaped, known, input, way]) => {
        const executed: unknown[] = [];
        const probe = defineTool<JsonObject>({
          ...{ name: "Probe", description: "", inputSchema: { type: "object" }, concurrent: false },
          access: async () => ({ kind: "run", resources: ["probe"] }),
          execute: async (given) => {
            executed.push(structuredClone(given));
            return { content: [{ type: "text", text: JSON.stringify(given) }] };
          },
        });
        const provider = createScriptedProvider([
          { text: JSON.stringify(input), calls: [{ name: "Probe", input }] },
          { text: JSON.stringify(input) },
        ]);
        const store = createMemoryStore();
        const redactor = createRedactor({ env: { SERVICE_TOKEN: known } });
        const hook = ({ tool_input: updatedInput }: JsonObject) => ({
          hookSpecificOutput: { permissionDecision: "allow", ...(way === "hook sends it back" && { updatedInput }) },
        });
        const session = new InteractiveSession({
          ...{ cwd: folder, provider, sessionStore: store, redactor, tools: [probe], answersPermissions: true },
          ...(way.startsWith("hook") && { hooks: { PreToolUse: [{ hooks: [hook] }] } }),
        });
        session.on("permission_request", ({ requestId, input: asked }) => {
          assert.deepEqual(asked, input);
          const answers: Record<string, JsonObject> = { [ways[1]]: { ...asked }, [ways[2]]: redactor.value(input) };
          const updatedInput = answers[way];
          session.answerPermission(requestId, { decision: "allow", ...(updatedInput && { updatedInput }) });
        });
        const stdout = new PassThrough();
        const printed = textOfStream(stdout);
        const format = createClaudeFormat("stream-json", {
          sessionId: session.id,
          newId: () => "id",
          partialMessages: await loadPartialMessages(),
        });
        const outcome = await runPrompt(session, "go", { format, output: new LineOutput(stdout) });
        await session.shutdown();
        stdout.end();
        assert.equal(outcome.type, "completed");
        assert.deepEqual(executed, [input]);
        const texts = {
          printed: await printed,
          stored: JSON.stringify(await store.read(session.id)),
          sent: JSON.stringify(provider.requests),
        };
        for (const [where, text] of Object.entries(texts))
          for (const secret of [...shaped, known]) assert.equal(text.includes(secret), false, where);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a mask that the model saw", () => {
  const known = "correct-horse-battery";
  const write = (file_path: string, content: string) => ({ calls: [{ name: "Write", input: { file_path, content } }] });

  it("is not written into a new file in the place of its secret; other words that look like one are", async () => {
    writeFileSync(join(folder, "config.txt"), `key: ${known} https://u:hunter2pass@host\n`);
    const provider = createScriptedProvider([
      { calls: [{ name: "Read", input: { file_path: "config.txt" } }] },
      write("one.txt", "key: [redacted:SERVICE_TOKEN]"),
      write("two.txt", "https://u:[redacted:password]@host"),
      write("three.txt", "Here [redacted:json-web-token] is what stands for a token."),
      write("[redacted:SERVICE_TOKEN].txt", "in a file whose name is a mask"),
      { text: "done" },
    ]);
    const redactor = createRedactor({ env: { SERVICE_TOKEN: known } });
    const session = new InteractiveSession({ cwd: folder, provider, redactor, permissionMode: "acceptEdits" });
    await session.submit("go");
    await session.shutdown();
    assert.deepEqual(
      ["one", "two", "three", "[redacted:SERVICE_TOKEN]"].map((name) => existsSync(join(folder, `${name}.txt`))),
      [false, false, true, false],
    );
    assert.match(JSON.stringify(provider.requests.at(-1)), /stands for a secret that is not shown to you; the file would hold/);
  });

  it("is not put into a new file by Edit either", async () => {
    writeFileSync(join(folder, "config.txt"), "https://u:hunter2pass@host\n");
    const edit = (file_path: string, new_string: string) => ({
      calls: [{ name: "Edit", input: { file_path, old_string: "", new_string } }],
    });
    const provider = createScriptedProvider([
      { calls: [{ name: "Read", input: { file_path: "config.txt" } }] },
      edit("edited.txt", "https://u:[redacted:password]@host"),
      edit("described.txt", "A [redacted:stripe-key] is a mask."),
      { text: "done" },
    ]);
    const session = new InteractiveSession({ cwd: folder, provider, permissionMode: "acceptEdits" });
    await session.submit("go");
    await session.shutdown();
    assert.deepEqual([existsSync(join(folder, "edited.txt")), existsSync(join(folder, "described.txt"))], [false, true]);
  });

  it("is refused after a resume too, whether its secret was known by value or by its looks", async () => {
    const { standsFor } = createRedactor({ env: { SERVICE_TOKEN: known } });
    assert.deepEqual([standsFor("[redacted:SERVICE_TOKEN]"), standsFor("[redacted:OTHER_TOKEN]")], [true, false]);

    writeFileSync(join(folder, "config.txt"), "https://u:hunter2pass@host\n");
    const sessionStore = createMemoryStore();
    const options = { cwd: folder, sessionStore, permissionMode: "bypassPermissions" as const };
    const first = new InteractiveSession({
      ...options,
      provider: createScriptedProvider([{ calls: [{ name: "Read", input: { file_path: "config.txt" } }] }, { text: "seen" }]),
    });
    await first.submit("go");
    await first.shutdown();
    const again = new InteractiveSession({
      ...options,
      resumeSessionId: first.id,
      provider: createScriptedProvider([
        write("resumed.txt", "https://u:[redacted:password]@host"),
        { calls: [{ name: "Bash", input: { command: "echo '[redacted:password]' > ran.txt" } }] },
        write("other.txt", "[redacted:github-token]"),
        { text: "done" },
      ]),
    });
    await again.submit("go on");
    await again.shutdown();
    assert.deepEqual(
      ["resumed", "ran", "other"].map((name) => existsSync(join(folder, `${name}.txt`))),
      [false, false, true],
    );
  });

  it("is never run by a command, given to a server or to any tool that does something; looking with it is harmless", async () => {
    writeFileSync(join(folder, "config.txt"), `key: ${known}\n`);
    const given: unknown[] = [];
    const probe = (name: string, kind: "run" | "reach" | "edit" | "look" | "note") =>
      defineTool<JsonObject>({
        ...{ name, description: "", inputSchema: { type: "object" }, concurrent: false },
        access: async () => ({ kind, resources: [] }),
        execute: async (input) => {
          given.push([name, input]);
          return { content: [] };
        },
      });
    const kinds = ["run", "reach", "edit", "look", "note"] as const;
    const input = { deep: [{ text: "x [redacted:SERVICE_TOKEN] y" }] };
    const provider = createScriptedProvider([
      { calls: [{ name: "Read", input: { file_path: "config.txt" } }] },
      { calls: kinds.map((kind) => ({ name: `Probe_${kind}`, input })) },
      { calls: [{ name: "Bash", input: { command: "touch '[redacted:SERVICE_TOKEN].txt'" } }] },
      { calls: [{ name: "Bash", input: { command: "touch '[redacted:OTHER].txt'" } }] },
      { text: "done" },
    ]);
    const session = new InteractiveSession({
      ...{ cwd: folder, provider, permissionMode: "bypassPermissions" },
      redactor: createRedactor({ env: { SERVICE_TOKEN: known } }),
      tools: kinds.map((kind) => probe(`Probe_${kind}`, kind)),
    });
    await session.submit("go");
    await session.shutdown();
    assert.deepEqual(given, [
      ["Probe_look", input],
      ["Probe_note", input],
    ]);
    assert.deepEqual(
      ["[redacted:SERVICE_TOKEN].txt", "[redacted:OTHER].txt"].map((name) => existsSync(join(folder, name))),
      [false, true],
    );
    assert.match(JSON.stringify(provider.requests.at(-1)), /it would be done with these words instead of it, so it was not run/);
  });
});
