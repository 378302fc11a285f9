import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CaseTable } from "./case-table.ts";
import { runScripted } from "./scripted-run.ts";

/** What JSON must escape, and what splits lines in many readers. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const rawC0 = /[\x00-\x09\x0b-\x1f\u2028\u2029]/;

/** Raw C0 (but the line end), DEL, C1 and what turns the writing direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const rewriting = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

export const displayCases: CaseTable = {
  async AN002(_one, test) {
    const command = "rm -rf x \x1b[1A\x1b[2K\recho harmless \u202e\x9b";
    // Nobody sits at a prompt: what would be asked about is told as JSON, on stderr on one line, and in the words of `explain`.
    const ran = await runScripted(test, {
      replies: [{ calls: [{ name: "Bash", input: { command } }] }, { text: "done" }],
      args: ["--output-format", "stream-json", "--verbose"],
    });
    assert.doesNotMatch(ran.stdout, rawC0);
    assert.doesNotMatch(ran.stderr, rewriting);
    assert.ok(ran.stdout.includes("rm -rf x \\u001b[1A\\u001b[2K\\recho harmless"), "shown whole, escaped");
    const explained = await runScripted(test, { prompt: ["permissions", "explain", `Bash(${command})`] });
    assert.match(explained.stdout, /decision: (?:ask|deny)/);
    assert.doesNotMatch(explained.stdout, rewriting);
  },

  async AN003(_one, test) {
    const ran = await runScripted(test, {
      replies: [
        { calls: [{ name: "Bash", input: { command: "printf 'a\\033[31mb\\001\\007\\r\\nc\\177\\302\\233\\342\\200\\250d'" } }] },
        { text: "bell \x07 and \x1b[2J" },
      ],
      args: ["--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"],
    });
    assert.equal(ran.code, 0);
    assert.doesNotMatch(ran.stdout, rawC0);
    for (const line of ran.stdout.split("\n").filter(Boolean)) assert.doesNotThrow(() => JSON.parse(line));
    assert.match(ran.stdout, /"ab\\u0001\\u0007\\nc\\u007f/, "what a command prints has lost its colours only");
    assert.match(ran.stdout, /"bell \\u0007 and \\u001b\[2J"/, "what the model says is whole, escaped");
  },

  async AN005(_one, test) {
    let reached = 0;
    const server = createServer((_request, response) => response.end());
    server.on("connection", () => reached++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    test.after(() => server.close());
    const image = `![x](http://127.0.0.1:${(server.address() as AddressInfo).port}/?d=secret)`; // it listens on a port
    for (const format of ["text", "json", "stream-json"]) {
      const ran = await runScripted(test, { replies: [{ text: image }], args: ["--output-format", format] });
      assert.ok(ran.stdout.includes(image), "handed on as it was written");
    }
    assert.equal(reached, 0);
  },
};
