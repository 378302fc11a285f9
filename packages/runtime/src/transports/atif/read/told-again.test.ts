import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { validateTrajectory } from "../check/validate.ts";
import { toTrajectoryDocument } from "../write/trajectory.ts";
import { fromTrajectory } from "./from-trajectory.ts";

type Part = { type: string; text?: string; source?: { media_type: string; path: string } };
type Told = {
  source: string;
  message: string | Part[];
  reasoning_content?: string | null;
  tool_calls?: { tool_call_id: string; function_name: string; arguments: object }[] | null;
  observation?: { results: { source_call_id?: string | null; content?: string | Part[] | null }[] } | null;
};

const pictures = new Map(["images/a.png", "deep/b.png"].map((path) => [path, Buffer.from(path).toString("base64")]));
const options = { sessionId: "s1", now: () => 0, loadImage: (path: string) => pictures.get(path) };

function document(steps: readonly object[]) {
  const agent = { name: "other", version: "1", model_name: "nobody-knows-its-price" };
  return {
    schema_version: "ATIF-v1.7",
    session_id: "x",
    agent,
    steps: steps.map((one, index) => ({ step_id: index + 1, ...one })),
  };
}

/** What of a step must come back: with each picture as what it shows, wherever it lies. */
function essence(steps: readonly Told[], showing: (path: string) => string): unknown[] {
  const content = (value: string | Part[] | null | undefined): unknown =>
    Array.isArray(value)
      ? value.map((part) => (part.source ? { image: showing(part.source.path) } : part.text))
      : (value ?? null);
  return steps.map(({ source, message, reasoning_content: reasoning, tool_calls: calls, observation }) => ({
    source,
    message: content(message),
    reasoning: reasoning ?? null,
    calls: (calls ?? []).map(({ tool_call_id: id, function_name: name, arguments: input }) => [id, name, input]),
    results: (observation?.results ?? []).map((result) => [result.source_call_id ?? null, content(result.content)]),
  }));
}

/** The documents of many writers: what one always fills another leaves empty, null or out. */
const text = fc.oneof(fc.constantFrom("", " ", "<summary>\n\n</summary>", "a\nb"), fc.string({ maxLength: 20 }));
const part = fc.oneof(
  text.map((words) => ({ type: "text", text: words })),
  fc
    .constantFrom(...pictures.keys(), "https://example.org/x.png")
    .map((path) => ({ type: "image", source: { media_type: "image/png", path } })),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));
const absent = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const management = fc.constantFrom(
  { type: "compaction", boundary: "replace" },
  { type: "injection", boundary: "append" },
  { type: "pruning", boundary: "truncate" },
);
const extra = fc.oneof(
  fc.constant(null),
  fc.dictionary(fc.constantFrom("note", "finish", "system_prompt", "x"), fc.constantFrom(true, "stop", 1)),
  management.map((context_management) => ({ context_management })),
);
const plain = fc.record({
  source: fc.constantFrom("user", "system"),
  message: content,
  extra,
  observation: fc.constant(null),
});
const withNotice = fc.record({
  source: fc.constant("system"),
  message: content,
  observation: fc.record({ results: fc.array(fc.record({ content: absent(content) }), { maxLength: 2 }) }),
  extra,
});
const answer = fc
  .record({
    message: content,
    reasoning: absent(text),
    calls: fc.array(
      fc.record({ id: fc.constantFrom("0", "1", "call:x", "c#2"), name: fc.constantFrom("bash", "str.replace", "") }),
    ),
    answered: fc.array(fc.tuple(fc.nat(9), absent(content))),
    loose: fc.array(absent(content), { maxLength: 2 }),
    hasCalls: fc.boolean(),
    at: fc.constantFrom(null, "2026-01-01T10:00:00Z", "2026-01-01"),
    extra,
  })
  .map(({ message, reasoning, calls, answered, loose, hasCalls, at, extra: more }) => {
    const unique = [...new Map(calls.map((call) => [call.id, call])).values()];
    const results = [
      ...answered.flatMap(([index, words]) => (unique[index] ? [{ source_call_id: unique[index].id, content: words }] : [])),
      ...loose.map((words) => ({ source_call_id: null, content: words })),
    ];
    const tool_calls = unique.map(({ id, name }) => ({ tool_call_id: id, function_name: name, arguments: { command: "ls" } }));
    return {
      source: "agent",
      message,
      timestamp: at,
      reasoning_content: reasoning,
      tool_calls: hasCalls || unique.length > 0 ? tool_calls : null,
      observation: results.length > 0 ? { results } : null,
      metrics: { prompt_tokens: 5, completion_tokens: 5 },
      extra: more,
    };
  });

describe("a trajectory that was imported", () => {
  it("is told again step by step: words, reasoning, calls, results and pictures", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(plain, withNotice, answer), { minLength: 1, maxLength: 10 }), (steps) => {
        const given = JSON.parse(JSON.stringify(document(steps))) as { steps: Told[] };
        const again = toTrajectoryDocument(fromTrajectory(given, options).events, { sessionId: "s1" });
        assert.ok(again);
        assert.deepEqual(validateTrajectory(again.trajectory).problems, []);
        assert.deepEqual(
          essence(again.trajectory.steps as Told[], (path) => again.media.get(path) ?? path),
          essence(given.steps, (path) => pictures.get(path) ?? path),
        );
        // A second time it is the same document.
        const third = toTrajectoryDocument(
          fromTrajectory(again.trajectory, { ...options, loadImage: (path) => again.media.get(path) }).events,
          { sessionId: "s1" },
        );
        assert.deepEqual(third?.trajectory, again.trajectory);
      }),
      { numRuns: 400 },
    );
  });

  it("keeps each of the examples' steps, and those of a writer that gave one id twice", () => {
    const folder = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/atif/cases");
    for (const name of ["full", "compaction", "embedded-subagent", "image-url", "minimal", "no-llm-step", "nulls", "v1.4"]) {
      const given = JSON.parse(readFileSync(join(folder, `valid-${name}.json`), "utf8")) as { steps: Told[] };
      const again = toTrajectoryDocument(fromTrajectory(given, options).events);
      assert.deepEqual(validateTrajectory(again?.trajectory).problems, [], name);
      const same = (path: string): string => path;
      assert.deepEqual(essence((again?.trajectory.steps ?? []) as Told[], same), essence(given.steps, same), name);
    }
    const twice = ["a", "b"].map((input) => ({ tool_call_id: "0", function_name: "f", arguments: { input } }));
    const results = ["one", "two", "three"].map((words) => ({ source_call_id: "0", content: words }));
    const step = { source: "agent", message: "", tool_calls: twice, observation: { results } };
    const [told] = toTrajectoryDocument(fromTrajectory(document([step]), options).events)?.trajectory.steps ?? [];
    assert.deepEqual(
      told?.observation?.results.map((result) => [result.source_call_id, result.content]),
      [
        ["0", "one"],
        ["0#2", "two"],
        ["0", "three"],
      ],
    );
  });

  it("names a picture by what it shows, wherever it was seen", () => {
    const image = [{ type: "image", source: { media_type: "image/png", path: "images/a.png" } }];
    const steps = [
      { source: "user", message: image },
      { source: "agent", message: image, observation: { results: [{ content: image }] } },
    ];
    const again = toTrajectoryDocument(fromTrajectory(document(steps), options).events);
    const data = pictures.get("images/a.png") ?? "";
    const path = `images/${createHash("sha256").update(data).digest("hex").slice(0, 32)}.png`;
    assert.deepEqual([...(again?.media ?? [])], [[path, data]]);
    assert.equal(JSON.stringify(again?.trajectory).split(path).length, 4);
  });
});
