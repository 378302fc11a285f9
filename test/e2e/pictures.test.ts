import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { model, run, tempFolder } from "./command.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

type Block = { type: string; text?: string; source?: { media_type: string; data: string } };

async function place() {
  const cwd = tempFolder("pictures");
  const { env, server } = await model(() => ({ text: "A dot." }), join(cwd, "home"));
  writeFileSync(join(cwd, "dot.png"), png);
  writeFileSync(join(cwd, "wrong-name.txt"), gif);
  /** The blocks of the last prompt, with pictures as their types. */
  const asked = (): string[] => {
    const [last] = server.requests.slice(-1);
    const { messages } = (last?.body ?? { messages: [] }) as { messages: { content: Block[] }[] };
    return (messages.at(-1)?.content ?? []).map(
      ({ type, text, source }) => text ?? `${type} ${source?.media_type} ${source?.data.length}`,
    );
  };
  return { cwd, env, server, asked };
}

describe("a picture in a prompt", () => {
  it("is a file of --image, by what is in it", async () => {
    const { cwd, env, asked } = await place();
    const ran = await run(["-p", "What is it?", "--image", "dot.png", "--image=wrong-name.txt"], { cwd, env });
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, "A dot.\n", ""]);
    assert.deepEqual(asked(), [
      `image image/png ${png.toString("base64").length}`,
      `image image/gif ${gif.toString("base64").length}`,
      "What is it?",
    ]);
  });

  it("comes on stdin, where text stays text", async () => {
    const { cwd, env, asked } = await place();
    assert.equal((await run(["-p", "What is it?"], { cwd, env, stdin: png })).code, 0);
    assert.deepEqual(asked(), [`image image/png ${png.toString("base64").length}`, "What is it?"]);
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("zwei Bytes", "utf16le")]);
    assert.equal((await run(["-p", "Read"], { cwd, env, stdin: wide })).code, 0);
    assert.deepEqual(asked(), ["Read\n\nzwei Bytes"]);
  });

  const wrong: [what: string, args: string[], stdin: Buffer | undefined, code: number, said: RegExp][] = [
    ["a file that is not there", ["-p", "x", "--image", "none.png"], undefined, 66, /--image none\.png: there is no such file/],
    ["a folder", ["-p", "x", "--image", "home2"], undefined, 66, /no ordinary file/],
    [
      "text with a picture's name",
      ["-p", "x", "--image", "text.png"],
      undefined,
      64,
      /cannot be shown to a model: it is .*models look at PNG/,
    ],
    ["half a picture", ["-p", "x", "--image", "half.png"], undefined, 64, /damaged or cut off/],
    ["an empty file", ["-p", "x", "--image", "empty.png"], undefined, 64, /it is empty/],
    ["an archive on stdin", ["-p", "x"], gzipSync("x".repeat(300)), 64, /stdin holds a gzip archive/],
    ["a PDF on stdin", ["-p", "x"], Buffer.from("%PDF-1.7\n%âãÏÓ\n"), 64, /stdin holds a PDF document/],
    [
      "half a picture on stdin",
      ["-p", "x"],
      png.subarray(0, 40),
      64,
      /stdin cannot be shown to a model: it is damaged or cut off/,
    ],
    ["a picture and no words", [], png, 66, /There is a picture and no prompt/],
    [
      "a picture beside frames",
      ["--input-format", "stream-json", "--output-format", "stream-json", "--image", "dot.png"],
      undefined,
      64,
      /--image needs a prompt/,
    ],
  ];
  for (const [what, args, stdin, code, said] of wrong) {
    it(`is refused before anybody is asked: ${what}`, async () => {
      const { cwd, env, server } = await place();
      mkdirSync(join(cwd, "home2"));
      for (const [name, bytes] of Object.entries({ "text.png": "hello", "half.png": png.subarray(0, 40), "empty.png": "" }))
        writeFileSync(join(cwd, name), bytes);
      const ran = await run(args, { cwd, env, ...(stdin && { stdin }) });
      assert.match(ran.stderr, said);
      assert.deepEqual([ran.code, server.requests.length], [code, 0]);
    });
  }
});

describe("a document in a prompt", () => {
  it("is a file of --pdf, by what is in it", async () => {
    const { cwd, env, asked, server } = await place();
    const pdf = Buffer.from("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n");
    writeFileSync(join(cwd, "paper.pdf"), pdf);
    const ran = await run(["-p", "Sum it up", "--pdf", "paper.pdf"], { cwd, env });
    assert.deepEqual([ran.code, ran.stderr], [0, ""]);
    assert.deepEqual(asked(), [`document application/pdf ${pdf.toString("base64").length}`, "Sum it up"]);
    const rows: [file: string, code: number, words: RegExp][] = [
      ["dot.png", 64, /--pdf dot\.png is no PDF document/],
      ["gone.pdf", 66, /--pdf gone\.pdf: there is no such file/],
    ];
    for (const [file, code, words] of rows) {
      const refused = await run(["-p", "x", "--pdf", file], { cwd, env });
      assert.deepEqual([refused.code, words.test(refused.stderr)], [code, true], refused.stderr);
    }
    assert.equal(server.requests.length, 1);
  });
});
