import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isStandalone, run, tempFolder } from "../e2e/command.ts";

describe("the compilers of the standalone command", { skip: !isStandalone }, () => {
  it("no longer wait after a second", async () => {
    const place = tempFolder("start");
    const [preload, told, replies] = ["preload.js", "told", "replies.json"].map((name) => join(place, name)) as [
      string,
      string,
      string,
    ];
    const tell = `require("node:fs").appendFileSync(${JSON.stringify(told)}, "scale " + scale)`;
    writeFileSync(
      preload,
      `const set = Bun.unsafe.setJITPolicy; Bun.unsafe.setJITPolicy = (scale) => { ${tell}; set(scale); };\n`,
    );
    writeFileSync(replies, '[{"calls":[{"name":"Bash","input":{"command":"sleep 1.5"}}]},{"text":"Done."}]');
    const words = ["-p", "go", "--provider", "scripted", "--model", replies, "--sandbox", "off", "--allowedTools", "Bash"];
    const { stdout, stderr } = await run(words, { env: { HOME: place, BUN_OPTIONS: `--preload ${preload}` }, cwd: place });
    assert.deepEqual([stdout, existsSync(told) && readFileSync(told, "utf8")], ["Done.\n", "scale 1"], stderr);
  });
});

describe("the names in a folder", () => {
  it("come in their order, as Node gives them", async () => {
    const place = tempFolder("folders");
    const sessions = join(place, "home/sessions");
    mkdirSync(sessions, { recursive: true });
    for (const name of ["m", "b", "Z", "k", "y", "a", "c", "x", "10", "9", "q", "e"])
      writeFileSync(join(sessions, `${name}.jsonl`), "no journal\n");
    const replies = join(place, "replies.json");
    writeFileSync(replies, '[{"text":"Done."}]');
    const words = ["-p", "go", "--continue", "--provider", "scripted", "--model", replies];
    const { stderr } = await run(words, { env: { HOME: place, OUTRIDER_HOME: join(place, "home") }, cwd: place });
    assert.deepEqual(stderr.match(/(?<=journal of )\w+/g), ["10", "9", "Z"], stderr);
  });
});
