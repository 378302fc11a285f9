import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { createSpill } from "./spill-folder.ts";
import { maxLineBytes, toWireJson, toWireLine } from "./wire-line.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-lines-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const spill = createSpill(join(folder, "kept"));

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const unsafe = /[\x00-\x1f\x7f-\x9f\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

type Kept = { persisted_output: { field: string; path: string; bytes: number }[]; [field: string]: unknown };

describe("a line", () => {
  it("holds any string in printable, valid UTF-8, and gives it back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary-ascii" }), (a, b) => {
        const json = toWireJson({ [b]: [a, b] });
        assert.doesNotMatch(json, unsafe);
        assert.deepEqual(JSON.parse(json), { [b]: [a, b] });
        assert.equal(Buffer.from(json).toString("utf8"), json);
      }),
    );
    assert.doesNotMatch(toWireJson("\ud800 \udc00 \u2028 \u009b \u0000"), unsafe);
  });

  it("is written as it is when it fits", () => {
    const frame = { type: "user", uuid: "u", text: "x".repeat(900_000) };
    assert.equal(toWireLine(frame, spill), `${JSON.stringify(frame)}\n`);
  });

  it("keeps its longest texts in files that it names, with their beginning, until it fits", () => {
    const long = "ü".repeat(700_000);
    const line = toWireLine(
      { type: "user", uuid: "u1", message: { content: [{ text: long }, { text: "short" }] }, other: "y".repeat(5000) },
      spill,
    );
    assert.ok(Buffer.byteLength(line) < maxLineBytes);
    const frame = JSON.parse(line) as Kept & { message: { content: { text: string }[] }; other: string };
    const [kept] = frame.persisted_output;
    assert.deepEqual([frame.persisted_output.length, kept?.field, kept?.bytes], [1, "message.content.0.text", 1_400_000]);
    assert.equal(readFileSync(kept?.path ?? "", "utf8"), long);
    assert.ok(frame.message.content[0]?.text.startsWith("üüü") && frame.message.content[0].text.includes(kept?.path ?? "?"));
    assert.deepEqual([frame.message.content[1]?.text, frame.other.length], ["short", 5000]);
  });

  it("keeps images whole, as bytes", () => {
    const bytes = Buffer.alloc(1_500_000, 7);
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: bytes.toString("base64") } };
    const frame = JSON.parse(toWireLine({ type: "user", uuid: "u2", content: [image] }, spill)) as Kept & {
      content: { type: string }[];
    };
    assert.equal(frame.content[0]?.type, "text");
    assert.match(frame.persisted_output[0]?.path ?? "", /\.png$/);
    assert.ok(readFileSync(frame.persisted_output[0]?.path ?? "").equals(bytes));
  });

  it("gives up whole fields where many small values are too much, and stays a frame", () => {
    const many = Array.from({ length: 60_000 }, (_, index) => ({ tool_use_id: `call_${index}`, reason: "no" }));
    const frame = JSON.parse(
      toWireLine({ type: "result", subtype: "success", uuid: "u3", is_error: false, permission_denials: many }, spill),
    ) as Kept;
    assert.deepEqual(
      [frame["type"], frame["subtype"], frame["is_error"], frame["permission_denials"], frame.persisted_output[0]?.field],
      ["result", "success", false, [], "permission_denials"],
    );
    assert.deepEqual(JSON.parse(readFileSync(frame.persisted_output[0]?.path ?? "", "utf8")), many);
  });

  it("says so when nothing could be kept", () => {
    const frame = JSON.parse(toWireLine({ type: "result", uuid: "u4", result: "x".repeat(2_000_000) })) as Kept & {
      result: string;
    };
    assert.equal(frame.persisted_output[0]?.path, null);
    assert.match(frame.result, /could not be kept/);
    const nowhere = createSpill("/dev/null/not-a-folder");
    assert.match(toWireLine({ type: "result", uuid: "u5", result: "x".repeat(2_000_000) }, nowhere), /could not be kept/);
  });

  it("is never longer than a reader's buffer", () => {
    const text = fc.string({ unit: "binary", minLength: 50_000, maxLength: 60_000 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (a, times) => {
        const line = toWireLine({ type: "user", uuid: "u6", a: a.repeat(times), b: [a, a.repeat(2)] });
        return Buffer.byteLength(line) <= maxLineBytes && line.indexOf("\n") === line.length - 1;
      }),
      { numRuns: 30 },
    );
  });
});
