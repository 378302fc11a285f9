import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { eventually, model, run, type Started, start, tempFolder } from "./command.ts";

type Served = Started & { readonly url: string; readonly out: () => string };

async function serve(args: readonly string[], env: Record<string, string>, cwd: string): Promise<Served> {
  const started = start(["serve", ...args], { env, cwd, stdin: "open" });
  after(() => started.child.kill("SIGKILL"));
  let text = "";
  started.child.stdout.on("data", (chunk: string) => {
    text += chunk;
  });
  let isOver = false;
  void started.done.then(() => {
    isOver = true;
  });
  await eventually(() => isOver || /listens on \S+\n/.test(text), "the server listens");
  return { ...started, url: /listens on (\S+)/.exec(text)?.[1] ?? "", out: () => text };
}

async function ask(url: string, method: string, token: string, body?: object): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const asking = request(url, {
      method,
      agent: false,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    });
    asking.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asking.end(body && JSON.stringify(body));
  });
}

describe("outrider serve", () => {
  it("makes a token once, hosts sessions, ends in order on a signal, and knows them after a restart", async () => {
    const home = tempFolder("serve");
    const cwd = tempFolder("work");
    const { env } = await model([{ text: "hello" }, { text: "again" }], home);
    const first = await serve([], env, cwd);
    const token = readFileSync(join(home, "server/token"), "utf8").trim();
    assert.ok(first.out().includes(token), "it is printed at the first start");
    assert.ok(Buffer.from(token, "base64url").length >= 16);
    assert.equal(statSync(join(home, "server/token")).mode & 0o777, 0o600);
    const created = await ask(`${first.url}/v1/sessions`, "POST", token, {});
    assert.equal(created.status, 201, created.text);
    const { id } = JSON.parse(created.text);
    const answer = await ask(`${first.url}/v1/sessions/${id}/messages`, "POST", token, { text: "hi" });
    assert.equal(JSON.parse(answer.text).outcome.text, "hello");
    const second = await run(["serve"], { env, cwd });
    assert.deepEqual([second.code, /A server runs already: http:/.test(second.stderr)], [78, true]);
    first.child.kill("SIGTERM");
    const ended = await first.done;
    assert.deepEqual([ended.code, ended.signal], [0, null]);
    const again = await serve([], env, cwd);
    assert.ok(!again.out().includes(token), "it is not printed again");
    const told = await ask(`${again.url}/v1/sessions/${id}/messages`, "POST", token, { text: "and now" });
    assert.equal(JSON.parse(told.text).outcome.text, "again");
    again.child.kill("SIGTERM");
    await again.done;
  });

  it("gives others tokens of their own, which see nothing of each other", async () => {
    const home = tempFolder("serve");
    const cwd = tempFolder("work");
    const { env } = await model([], home);
    const server = await serve(["--root", cwd], env, cwd);
    const add = async (name: string): Promise<string> =>
      (await run(["serve", "token", "add", name, "--scope", "drive"], { env })).stdout.trim();
    const [alice, bob] = [await add("alice"), await add("bob")];
    const { id } = JSON.parse((await ask(`${server.url}/v1/sessions`, "POST", alice, {})).text);
    const seen = async (token: string) => [
      (await ask(`${server.url}/v1/sessions/${id}`, "GET", token)).status,
      JSON.parse((await ask(`${server.url}/v1/sessions`, "GET", token)).text).sessions.length,
    ];
    assert.deepEqual(
      [await seen(alice), await seen(bob)],
      [
        [200, 1],
        [404, 0],
      ],
    );
    assert.match((await run(["serve", "token", "list"], { env })).stdout, /^alice {2}drive\nbob {2}drive\n$/);
    assert.equal((await run(["serve", "token", "remove", "alice"], { env })).code, 0);
    assert.equal((await ask(`${server.url}/v1/sessions`, "GET", alice)).status, 401);
    server.child.kill("SIGTERM");
    await server.done;
  });

  it("is found by attach, ps and stop: watched, steered, listed and ended from a terminal", async () => {
    const home = tempFolder("serve");
    const cwd = tempFolder("work");
    const { env } = await model([{ text: "hello there" }], home);
    assert.deepEqual([(await run(["ps"], { env })).code, (await run(["stop"], { env })).code], [66, 66]);
    const server = await serve([], env, cwd);
    const attached = await run(["attach", "--new"], { env, stdin: "say hello\n" });
    assert.deepEqual(
      [attached.code, /> say hello\n[\s\S]*hello there/.test(attached.stdout)],
      [0, true],
      attached.stdout + attached.stderr,
    );
    const id = /Session (\S+)/.exec(attached.stdout)?.[1] ?? "";
    assert.match((await run(["ps"], { env })).stdout, new RegExp(`^${id}  open `));
    assert.equal(JSON.parse((await run(["ps", "--all", "--json"], { env })).stdout)[0].id, id);
    const elsewhere = await run(["attach", "http://127.0.0.1:1"], { env });
    assert.deepEqual([elsewhere.code, /token is not known/.test(elsewhere.stderr)], [64, true]);
    const stopped = await run(["stop"], { env });
    assert.deepEqual([stopped.code, (await server.done).code], [0, 0]);
  });

  it("shows who attaches what waits for an answer, and takes y for nothing else", async () => {
    const home = tempFolder("serve");
    const cwd = tempFolder("work");
    const command = `touch ran # ${"x".repeat(600)} the end`;
    const replies = [{ text: "I will", calls: [{ name: "Bash", input: { command } }] }, { text: "all done" }];
    const { env } = await model(replies, home);
    const server = await serve([], env, cwd);
    const token = readFileSync(join(home, "server/token"), "utf8").trim();
    const { id } = JSON.parse((await ask(`${server.url}/v1/sessions`, "POST", token, {})).text);
    const place = `${server.url}/v1/sessions/${id}`;
    await ask(`${place}/messages`, "POST", token, { text: "please do it", wait: false });
    for (let tries = 0; tries < 200; tries++)
      if (JSON.parse((await ask(`${place}/questions`, "GET", token)).text).questions.length > 0) break;
    assert.match((await run(["ps"], { env })).stdout, new RegExp(`^${id}  waits for you `));
    const attached = start(["attach"], { env, stdin: "open" });
    after(() => attached.child.kill("SIGKILL"));
    let text = "";
    attached.child.stdout.on("data", (chunk: string) => {
      text += chunk;
    });
    await eventually(() => text.includes("[y/n]"), "the question is shown");
    assert.match(text, /^Session \S+ in \S+, waits for you\n/);
    assert.match(text, /> please do it\n[\s\S]*\? Bash \{"command":"touch ran # x{600} the end"/);
    attached.child.stdin.write("what is this?\n");
    await eventually(() => text.includes("Your line was not sent"), "another line is no answer");
    assert.equal(existsSync(join(cwd, "ran")), false);
    attached.child.stdin.end("y\n");
    const { stdout } = await attached.done;
    assert.match(stdout, /allow[\s\S]*all done/);
    assert.equal(existsSync(join(cwd, "ran")), true);
    server.child.kill("SIGTERM");
    await server.done;
  });

  for (const [args, code, message] of [
    [["--host", "0.0.0.0", "--allow-host", "box"], 64, /TLS|tls-cert/],
    [["--port", "99999"], 64, /no port/],
    [["--root", "/nowhere"], 64, /no folder/],
    [["--allow-origin", "https://a.example/path"], 64, /do you mean https:\/\/a\.example\?/],
    [["-p", "hi"], 64, /--print cannot be used with serve/],
    [["--tls-cert", "x"], 64, /go together/],
    [["now"], 64, /does not take "now"/],
    [["token", "add", "x"], 64, /--scope/],
    [["token", "add", "x", "--scope", "all"], 64, /no scope all/],
    [["token", "remove", "x"], 66, /no token named x/],
  ] as const)
    it(`refuses serve ${args.join(" ")} with exit code ${code}`, async () => {
      const ended = await run(["serve", ...args], { env: { OUTRIDER_HOME: tempFolder("serve"), ANTHROPIC_API_KEY: "k" } });
      assert.deepEqual([ended.code, message.test(ended.stderr)], [code, true], ended.stderr);
    });
});
