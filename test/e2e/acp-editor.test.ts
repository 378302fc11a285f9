import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type AcpClientOptions, places, TestClient } from "./acp-client.ts";
import { eventually, model, processesWith } from "./command.ts";

type Answers = NonNullable<AcpClientOptions["answers"]>;

const allow = () => ({ outcome: { outcome: "selected", optionId: "allow" } });
const call = (name: string, input: object, callId: string) => ({ calls: [{ name, input, callId }] });
const read = (file_path: string) => call("Read", { file_path }, "c1");
const edit = (file_path: string, old_string: string, new_string: string) =>
  call("Edit", { file_path, old_string, new_string }, "c2");

/** What an editor has open: its texts, which of them it has saved to disk, and who asked for what. */
class Buffers {
  readonly texts = new Map<string, string>();
  readonly asked: string[] = [];
  /** An editor that keeps what it is given to itself. */
  saves = true;

  get answers(): Answers {
    return {
      "fs/read_text_file": ({ path }) => {
        this.asked.push(`read ${path}`);
        const text = this.texts.get(String(path));
        if (text === undefined) throw new Error("not open");
        return { content: text };
      },
      "fs/write_text_file": ({ path, content }) => {
        this.asked.push(`write ${path}`);
        this.texts.set(String(path), String(content));
        if (this.saves) writeFileSync(String(path), String(content));
        return {};
      },
    };
  }
}

/** Terminals as editors have them: a process with one output for both streams. */
class Terminals {
  readonly created: Record<string, unknown>[] = [];
  readonly ended: string[] = [];
  readonly #running = new Map<string, { child: ChildProcess; output: string; exit: Promise<object> }>();

  get answers(): Answers {
    const of = ({ terminalId }: Record<string, unknown>) => this.#running.get(String(terminalId)) ?? assert.fail("no terminal");
    return {
      "terminal/create": (params) => {
        this.created.push(params);
        const { command, args, cwd, env } = params as {
          command: string;
          args: string[];
          cwd: string;
          env: { name: string; value: string }[];
        };
        const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
        const child = spawn(command, args, {
          cwd,
          env: { PATH: process.env["PATH"], EDITORS_OWN: "1", ANTHROPIC_API_KEY: "sk-of-the-editor", ...variables },
        });
        const exit = new Promise<object>((resolve) => child.on("close", (exitCode, signal) => resolve({ exitCode, signal })));
        const terminal = { child, output: "", exit };
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding("utf8").on("data", (text: string) => (terminal.output += text.replaceAll("\n", "\r\n")));
        const terminalId = `terminal-${this.created.length}`;
        this.#running.set(terminalId, terminal);
        return { terminalId };
      },
      "terminal/output": (params) => ({ output: of(params).output, truncated: false }),
      "terminal/wait_for_exit": (params) => of(params).exit,
      "terminal/kill": (params) => {
        of(params).child.kill("SIGKILL");
        this.ended.push("killed");
        return {};
      },
      "terminal/release": () => {
        this.ended.push("released");
        return {};
      },
    };
  }
}

describe("the files and terminals of an editor", { timeout: 120_000 }, () => {
  it("shows the model text that is not saved, and writes so that the editor has it too", async () => {
    const { home, cwd } = places();
    const file = join(realpathSync(cwd), "notes.txt");
    writeFileSync(file, "saved\n");
    const { env, server } = await model([read(file), edit(file, "unsaved", "changed"), { text: "done" }], home);
    const buffers = new Buffers();
    buffers.texts.set(file, "unsaved words\n");
    const client = new TestClient({ env, args: ["--permission-mode", "acceptEdits"], answers: buffers.answers });
    const { sessionId } = await client.open(cwd);
    assert.equal((await client.prompt(sessionId, "go")).stopReason, "end_turn");
    assert.match(JSON.stringify(server.requests[1]?.body), /unsaved words/);
    assert.equal(readFileSync(file, "utf8"), "changed words\n");
    assert.equal(buffers.texts.get(file), "changed words\n");
    assert.ok(buffers.asked.includes(`write ${file}`));
    await client.end();
  });

  it("keeps to the disk where the editor does not save, refuses, or is asked about what it has not open", async () => {
    const { home, cwd } = places();
    const root = realpathSync(cwd);
    const file = join(root, "notes.txt");
    writeFileSync(file, "one\r\ntwo\r\n");
    const { env } = await model([read(file), edit(file, "two", "2"), { text: "done" }], home);
    const keeps = new Buffers();
    keeps.saves = false;
    keeps.texts.set(file, "one\ntwo\n"); // as editors have it that keep line endings beside the text
    const client = new TestClient({ env, args: ["--permission-mode", "acceptEdits"], answers: keeps.answers });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "go");
    assert.equal(readFileSync(file, "utf8"), "one\r\n2\r\n");
    await client.end();

    const outside = join(home, "outside.txt");
    writeFileSync(outside, "elsewhere\n");
    mkdirSync(join(root, "in"));
    symlinkSync(outside, join(root, "in/link.txt"));
    const again = await model(
      [
        read(join(root, "in/link.txt")),
        call("Write", { file_path: join(root, "new.txt"), content: "made\n" }, "c2"),
        { text: "done" },
      ],
      home,
    );
    const nothing = new Buffers();
    const refusing = {
      ...nothing.answers,
      "fs/write_text_file": () => {
        throw new Error("read-only");
      },
    };
    const second = new TestClient({
      env: again.env,
      args: ["--permission-mode", "acceptEdits"],
      answers: refusing,
      onPermission: allow,
    });
    const opened = await second.open(cwd);
    await second.prompt(opened.sessionId, "go");
    assert.match(JSON.stringify(again.server.requests[1]?.body), /elsewhere/);
    assert.deepEqual(nothing.asked, [], "a link that leads out of the folder is no file of the editor's");
    assert.equal(readFileSync(join(root, "new.txt"), "utf8"), "made\n");
    await second.end();
  });

  it("runs what the user allows in a terminal of the editor, and the call shows it", async () => {
    const { home, cwd } = places();
    const command = 'touch made; echo "out $EDITORS_OWN $(printenv ANTHROPIC_API_KEY || echo none)"; echo err >&2; exit 3';
    const { env, server } = await model([call("Bash", { command }, "c1"), { text: "done" }], home);
    const terminals = new Terminals();
    const client = new TestClient({ env, answers: terminals.answers, onPermission: allow });
    const { sessionId } = await client.open(cwd);
    assert.equal((await client.prompt(sessionId, "go")).stopReason, "end_turn");
    assert.match(JSON.stringify(server.requests[1]?.body).slice(-1500), /out 1 none\\nerr\\nExit code 3/);
    assert.equal(terminals.created.length, 1);
    assert.deepEqual(terminals.ended, ["released"]);
    const shown = client.updates("tool_call_update").filter(({ content }) => content?.[0]?.type === "terminal");
    assert.deepEqual(shown.at(-1)?.content, [{ type: "terminal", terminalId: "terminal-1" }]);
    assert.equal(shown.at(-1)?.status, "failed");
    await client.end();
  });

  it("ends what runs there when the prompt is cancelled, also what has left the terminal", async () => {
    const { home, cwd } = places();
    const marked = `77${process.pid}`;
    const { env } = await model(
      [call("Bash", { command: `touch made; setsid sleep ${marked} & sleep ${marked}` }, "c1"), { text: "done" }],
      home,
    );
    const terminals = new Terminals();
    const client = new TestClient({ env, answers: terminals.answers, onPermission: allow });
    const { sessionId } = await client.open(cwd);
    const answered = client.prompt(sessionId, "go");
    await eventually(() => processesWith(`\0${marked}\0`).length >= 2, "both run");
    client.cancel(sessionId);
    assert.equal((await answered).stopReason, "cancelled");
    await eventually(() => processesWith(`\0${marked}\0`).length === 0, "both have ended");
    assert.ok(terminals.ended.includes("killed"));
    await client.end();
  });

  it("never gives a terminal what nobody has allowed, and runs it itself where the editor opens none", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([call("Bash", { command: "echo $((20 + 3))" }, "c1"), { text: "done" }], home);
    const terminals = new Terminals();
    const boxed = new TestClient({ env, args: ["--permission-mode", "sandboxed"], answers: terminals.answers });
    const first = await boxed.open(cwd);
    await boxed.prompt(first.sessionId, "go");
    assert.deepEqual(terminals.created, []);
    await boxed.end();

    const again = await model([call("Bash", { command: "echo $((20 + 3))" }, "c1"), { text: "done" }], home);
    const none = new TestClient({ env: again.env, onPermission: allow }); // says that it has terminals, and has none
    const second = await none.open(cwd);
    await none.prompt(second.sessionId, "go");
    assert.match(JSON.stringify(again.server.requests[1]?.body), /\b23\b/);
    assert.match(JSON.stringify(server.requests[1]?.body), /\b23\b/);
    await none.end();
  });
});
