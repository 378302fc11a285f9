import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Ground } from "../server/ground.ts";
import { TestClient } from "./acp-client.ts";
import { lines, model, run, tempFolder } from "./command.ts";
import { program } from "./program.ts";

/** What somebody types, what it says, and whether it succeeds. A server's clients change nothing of its owner's: `owners`. */
type Row = { readonly typed: string; readonly says: RegExp; readonly fails?: true; readonly owners?: true };

const rows: readonly Row[] = [
  { typed: "/help", says: /^\/\S+.*\/compact/s },
  { typed: "/skills", says: /^\/look: looks at things$/ },
  { typed: "/agent list", says: /general-purpose/ },
  { typed: "/background", says: /^No task|^Nothing|^There (?:is|are) no/ },
  { typed: "/memory list", says: /\(project\/build\) npm test/ },
  { typed: "/memory add project build also lint", says: /./, owners: true },
  { typed: "/memory used", says: /./ },
  { typed: "/context", says: /tokens/ },
  { typed: "/context auto 70", says: /room is made at/ },
  { typed: "/context list", says: /No file was named/ },
  { typed: "/cost", says: /^Cost: \$0/ },
  { typed: "/model", says: /takes any name/ },
  { typed: "/provider", says: /\// },
  { typed: "/provider list", says: /./, owners: true },
  { typed: "/permissions", says: /^Mode default/ },
  { typed: "/permissions plan", says: /^Mode plan/ },
  { typed: "/mode default", says: /^Mode default/ },
  { typed: "/mode nonsense", says: /There is no mode "nonsense"/, fails: true },
  { typed: "/language", says: /language of the prompt/, owners: true },
  { typed: "/output-style", says: /Concise/, owners: true },
  { typed: "/statusline", says: /^\{"cwd":/ },
  { typed: "/statusline git-branch off", says: /no status line/, fails: true },
  { typed: "/rename my work", says: /called my work/ },
  { typed: "/resume", says: /--resume SESSION/, fails: true },
  { typed: "/reset", says: /deleted by hand/, fails: true },
  { typed: "/exit", says: /ends with its last prompt/, fails: true },
  { typed: "/rewind list", says: /./ },
  { typed: "/plugin list", says: /No plugin is installed/, owners: true },
  { typed: "/reload-plugins", says: /looked for again/ },
  { typed: "/user-local storage list", says: /./, owners: true },
  { typed: "/validate-session", says: /./ },
  { typed: "/clear", says: /begins anew/ },
  { typed: "/hepl", says: /Did you mean \/?help/i, fails: true },
];

type Answer = { readonly ok: boolean; readonly text: string };
type Place = { readonly cwd: string; readonly home: string; readonly env: Record<string, string> };

/** Each front end types all of it in one session, and hears what was said. */
const frontEnds: Readonly<Record<string, (place: Place) => Promise<Answer[]>>> = {
  async live({ cwd, env }) {
    const line = (content: string): string => JSON.stringify({ type: "user", message: { role: "user", content } });
    const stdin = `${rows.map(({ typed }) => line(typed)).join("\n")}\n`;
    const { stdout } = await run(["-p", "--input-format", "stream-json", "--output-format", "stream-json"], { cwd, env, stdin });
    return lines(stdout)
      .filter(({ type }) => type === "result")
      .map(({ is_error: failed, result, errors }) => ({ ok: !failed, text: String(result || (errors as string[])?.join()) }));
  },
  async acp({ cwd, env }) {
    const client = new TestClient({ env, args: ["--permission-prompts", "none"] });
    const { sessionId } = await client.open(cwd);
    const answers: Answer[] = [];
    for (const { typed } of rows) {
      const before = client.text(sessionId).length;
      const failed = await client.prompt(sessionId, typed).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : JSON.stringify(error)),
      );
      answers.push({ ok: failed === undefined, text: failed ?? client.text(sessionId).slice(before) });
    }
    await client.end();
    return answers;
  },
  async library(place) {
    const typed = JSON.stringify(rows.map((row) => row.typed));
    await program(
      `import { createAnthropicProvider, InteractiveSession } from "@outrider/runtime";
      import { appendFileSync } from "node:fs";
      const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseURL } = process.env;
      const provider = createAnthropicProvider({ apiKey, baseURL });
      const session = new InteractiveSession({ cwd: process.cwd(), provider });
      for (const text of ${typed}) {
        const outcome = await session.submit(text);
        const said = outcome.type === "failed" ? outcome.error.message : outcome.text;
        appendFileSync("../answers.jsonl", JSON.stringify({ ok: outcome.type === "completed", text: said }) + "\\n");
      }
      await session.shutdown();`,
      place,
    );
    return lines(readFileSync(join(place.cwd, "../answers.jsonl"), "utf8")) as Answer[];
  },
};

function prepare(cwd: string): void {
  mkdirSync(join(cwd, ".claude/skills/look"), { recursive: true });
  writeFileSync(join(cwd, ".claude/skills/look/SKILL.md"), "---\ndescription: looks at things\n---\nlook");
  mkdirSync(join(cwd, ".outrider/memory"), { recursive: true });
  writeFileSync(join(cwd, ".outrider/memory/MEMORY.md"), "- [2026-01-01] (project/build) npm test\n");
}

function check(answers: readonly Answer[], isServed = false): void {
  assert.equal(answers.length, rows.length);
  for (const [at, { typed, says, fails, owners }] of rows.entries()) {
    const { ok = false, text = "" } = answers[at] ?? {};
    const isRefused = isServed && owners;
    assert.match(text, isRefused ? /whoever runs the server|does not know who typed it/ : says, typed);
    assert.equal(ok, !(fails || isRefused), `${typed}: ${text}`);
  }
}

describe("every command, typed on every front end", { timeout: 120_000 }, () => {
  for (const [name, type] of Object.entries(frontEnds))
    it(`says the same and asks no model: ${name}`, async () => {
      const top = realpathSync(tempFolder("every-command"));
      const cwd = join(top, "project");
      prepare(cwd);
      const home = join(top, ".outrider");
      const { server, env } = await model([{ text: "never" }], home);
      check(await type({ cwd, home, env: { ...env, HOME: top } }));
      assert.equal(server.requests.length, 0);
      assert.equal(existsSync(join(home, "settings.json")), false);
    });

  it("says the same and asks no model: one-shot", async () => {
    const top = realpathSync(tempFolder("every-command"));
    const cwd = join(top, "project");
    prepare(cwd);
    const { server, env } = await model([{ text: "never" }], join(top, ".outrider"));
    const some = rows.filter(({ typed }) => ["/help", "/memory list", "/statusline", "/exit", "/hepl"].includes(typed));
    for (const { typed, says, fails } of some) {
      const ended = await run(["-p", typed, "--output-format", "json"], { cwd, env: { ...env, HOME: top } });
      const { is_error: failed, result, errors } = JSON.parse(ended.stdout);
      assert.match(String(result || errors?.join()), says, typed);
      assert.deepEqual([failed, ended.code === 0], [fails === true, fails !== true], typed);
    }
    assert.equal(server.requests.length, 0);
  });

  it("says the same and asks no model, but for what is the owner's: server", async () => {
    const ground = new Ground([]);
    prepare(ground.cwd);
    await ground.start();
    const id = await ground.session();
    const answers: Answer[] = [];
    for (const { typed } of rows) {
      const { json } = await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: typed } });
      const { outcome } = json;
      answers.push({ ok: outcome?.type === "completed", text: outcome?.error?.message ?? outcome?.text ?? JSON.stringify(json) });
    }
    check(answers, true);
  });
});
