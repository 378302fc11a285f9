import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createRedactor } from "../../util/redact.ts";
import { HeldDeltas } from "./held-deltas.ts";

const token = `ghp_${"a1B2c3D4e5".repeat(4)}`;
const env = {
  SERVICE_TOKEN: "correct-horse-battery",
  OTHER_KEY: "co-rrect-12345",
  ODD_TOKEN: "one two 2 s",
  LONG_KEY: `long-${"k3y5".repeat(40)}-end`,
};
const redactor = createRedactor({ env });

describe("deltas", () => {
  it("go through as they are, the very same objects, while nothing looks like a secret", () => {
    const held = new HeldDeltas(redactor);
    const deltas = ["Hello", " world", ", and so on.\n", "x = 1;"].map((text) => ({
      type: "text.delta" as const,
      messageId: "m",
      text,
    }));
    for (const delta of deltas) assert.equal(held.pass(delta), delta);
    assert.equal(held.release(), undefined);
  });

  it("are held back where a secret may begin, and hidden when it was one", () => {
    assert.deepEqual(stream(["it is ghp", token.slice(3, 20), token.slice(20), " really"]), [
      "it is ",
      "[redacted:github-token] really",
    ]);
    assert.deepEqual(stream(["the ghp", "ost is gone"]), ["the ", "ghpost is gone"]);
  });

  it("know that a word goes on from the delta before", () => {
    assert.equal(stream(["di", "sk-0123456789abcdef0123 is full"]).join(""), "disk-0123456789abcdef0123 is full");
  });

  it("hide the rest of a known value of which the first letters were taken for the end of a word", () => {
    assert.equal(stream(["xco", "rrect-horse-battery"]).join(""), "xco[redacted:SERVICE_TOKEN]");
  });

  it("tell at the end what was held back", () => {
    assert.deepEqual(stream(["see correct-ho"]), ["see ", "correct-ho"]);
    assert.deepEqual(stream(["see ", token]), ["see ", "[redacted:github-token]"]);
  });

  it("hold back the pieces of a tool's input as well", () => {
    const held = new HeldDeltas(redactor);
    const piece = (json: string) => held.pass({ type: "tool-input.delta", messageId: "m", callId: "c", name: "Bash", json });
    const shown = [piece('{"command":"echo correct-'), piece('horse-battery"}'), held.release()];
    assert.equal(
      shown.map((delta) => (delta?.type === "tool-input.delta" ? delta.json : "")).join(""),
      '{"command":"echo [redacted:SERVICE_TOKEN]"}',
    );
  });

  const secrets = [
    token,
    env.SERVICE_TOKEN,
    env.OTHER_KEY,
    env.ODD_TOKEN,
    env.LONG_KEY,
    "Authorization: Bearer abc-123-def",
    "postgres://a:hunter22@db",
    "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n",
    "API_KEY=abc123def456",
  ];
  it("add up to the text that is stored, wherever it is cut", () => {
    const part = fc.oneof(
      fc.constantFrom(...secrets),
      fc.constantFrom("word ", " some\n", "s", "gh", "di", "sk-", ". ", "c", "correct-horse ", "K"),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 60 }),
        (parts, sizes) => {
          const text = parts.join(" ");
          const cut: string[] = [];
          for (let at = 0, index = 0; at < text.length; index++) {
            const size = sizes[index % sizes.length] ?? 1;
            cut.push(text.slice(at, at + size));
            at += size;
          }
          assert.equal(stream(cut).join(""), redactor.text(text));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

function stream(texts: readonly string[]): string[] {
  const held = new HeldDeltas(redactor);
  const shown = texts.map((text) => held.pass({ type: "text.delta", messageId: "m", text }));
  return [...shown, held.release()].flatMap((delta) => (delta?.type === "text.delta" ? [delta.text] : []));
}
