import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, run, tempFolder } from "./command.ts";

/** Made up, and put together here so that this file holds no key. */
const made = (seed: string): string => createHash("sha512").update(seed).digest("base64").replace(/[+/=]/g, "x").slice(0, 64);
const body = [made("one"), made("two"), made("three"), made("four")];
const pem =
  ["-----BEGIN RSA", "PRIVATE KEY-----\n"].join(" ") + body.join("\n") + ["\n-----END RSA", "PRIVATE KEY-----\n"].join(" ");
const deploy = [made("five"), made("six"), "words of a recovery phrase"];
const github = `ghp_${made("seven").slice(0, 36)}`;
const bot = `AA${made("eight").slice(0, 33)}`;
const secrets = [...body, ...deploy, github.slice(4), bot, Buffer.from(deploy.join("\n")).toString("base64").slice(0, -4)];

async function stage(replies: ModelServerOptions["replies"]) {
  const home = tempFolder();
  const cwd = join(home, "work");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "key.pem"), pem);
  const { env, server } = await model(replies, join(home, "outrider"));
  return { home, cwd, server, env: { ...env, DEPLOY_SECRET: deploy.join("\n"), MAX_TOKENS: "100", StripeKey: "some-value-1" } };
}

/** No sixteen characters of a secret that stand together. */
function expectHidden(where: string, text: string, hidden: readonly string[] = secrets): void {
  const joined = text.replace(/\\n|\n/g, ""); // lines that were wrapped anew are still together
  for (const secret of hidden)
    for (let at = 0; at + 16 <= secret.length; at++)
      for (const shown of [text, joined])
        assert.equal(shown.includes(secret.slice(at, at + 16)), false, `${secret.slice(at, at + 16)} is in what is ${where}`);
}

const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });

describe("parts of secrets", { timeout: 120_000 }, () => {
  it("are hidden wherever they come out: frames, deltas, stderr, journal, trajectories, logs, recordings, exports", async () => {
    const place = await stage([
      { calls: [{ name: "Read", input: { file_path: "key.pem" } }] },
      bash("cat -n key.pem; grep -n . key.pem; sed -n 3,4p key.pem; fold -w 20 key.pem"),
      bash('echo "$DEPLOY_SECRET" | cat -n; printf %s "$DEPLOY_SECRET" | base64 -w 40; printf %s "$DEPLOY_SECRET" >&2'),
      bash(`echo dir-${github} %20${github} x_${github}; echo https://api.telegram.org/bot123456789:${bot}/getMe`),
      { calls: [{ name: "Edit", input: { file_path: "key.pem", old_string: "-----END", new_string: `${body[1]}\n-----END` } }] },
      { calls: [{ name: "Grep", input: { pattern: (body[2] ?? "").slice(0, 8), output_mode: "content" } }] },
      { text: `I saw dir-${github}, and ${body[1]}` },
    ]);
    const file = (name: string): string => join(place.home, name);
    const { code, stdout, stderr } = await run(
      [
        ...["-p", "go", "--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--verbose"],
        ...["--include-partial-messages", "--debug", "--debug-file", file("debug.log")],
        ...["--trajectory", file("run.json"), "--record", file("recording.jsonl")],
      ],
      { env: place.env, cwd: place.cwd },
    );
    assert.equal(code, 0, stderr);
    assert.ok(
      readFileSync(join(place.cwd, "key.pem"), "utf8").includes(`${body[3]}\n${body[1]}\n-----END`),
      "the file itself is edited",
    );
    expectHidden("on stdout", stdout);
    expectHidden("on stderr", stderr);
    expectHidden("sent", JSON.stringify(place.server.requests.map(({ body: sent }) => sent)));
    for (const name of ["debug.log", "run.json"]) expectHidden(`in ${name}`, readFileSync(file(name), "utf8"));
    // The model's own answers, and nobody showed the recorder the file that the lines of the key are from.
    expectHidden("recorded", readFileSync(file("recording.jsonl"), "utf8"), [...deploy, github.slice(4), bot]);
    for (const name of readdirSync(file("outrider"), { recursive: true, encoding: "utf8" })) {
      const path = join(file("outrider"), name);
      if (!name.includes("checkpoints") && statSync(path).isFile())
        expectHidden(`stored in ${name}`, readFileSync(path, "latin1"));
    }
    const id = String(lines(stdout).at(-1)?.["session_id"]);
    const exports = [
      ["trajectory", "export", id],
      ...["jsonl", "markdown", "json"].map((format) => ["sessions", "export", id, "--format", format]),
    ];
    for (const args of exports) {
      const exported = await run(args, { env: place.env, cwd: place.cwd });
      assert.deepEqual([exported.code, exported.stdout.includes("[redacted:")], [0, true], args.join(" "));
      expectHidden(`exported by ${args.join(" ")}`, exported.stdout);
    }
  });

  it("leave masks that are neither written nor run after a resume", async () => {
    const place = await stage([
      bash("cat key.pem"),
      { text: "seen" },
      { calls: [{ name: "Write", input: { file_path: "copy.pem", content: "[redacted:private-key]\n" } }] },
      { calls: [{ name: "Edit", input: { file_path: "copy2.pem", old_string: "", new_string: "[redacted:private-key]\n" } }] },
      bash("echo '[redacted:private-key]' > copy3.pem"),
      bash("echo '[redacted:nothing]' > kept.txt"),
      { text: "done" },
    ]);
    const flags = ["--permission-mode", "bypassPermissions", "--output-format", "json"];
    const first = await run(["-p", "go", ...flags], { env: place.env, cwd: place.cwd });
    assert.equal(first.code, 0, first.stderr);
    const id = String(lines(first.stdout)[0]?.["session_id"]);
    const again = await run(["-p", "go on", "--resume", id, ...flags], { env: place.env, cwd: place.cwd });
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(
      ["copy.pem", "copy2.pem", "copy3.pem", "kept.txt"].map((name) => existsSync(join(place.cwd, name))),
      [false, false, false, true],
    );
  });

  it("a command in the box gets numbers and no keys, whatever they are called", async () => {
    const place = await stage([bash("printenv MAX_TOKENS; printenv StripeKey; echo end"), { text: "done" }]);
    const { code, stderr } = await run(["-p", "go", "--permission-mode", "sandboxed"], { env: place.env, cwd: place.cwd });
    assert.equal(code, 0, stderr);
    const sent = JSON.stringify(place.server.requests.at(-1)?.body);
    assert.match(sent, /100\\nend/);
    assert.doesNotMatch(sent, /some-value-1/);
  });
});
