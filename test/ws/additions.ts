import assert from "node:assert/strict";
import { describe } from "node:test";
import { createWsHandler, type ServerMessage } from "../../packages/runtime/src/exports/ws.ts";
import { call, gate, openSession, serve, shows, used } from "./stage.ts";

describe("what the seed is weak in", () => {
  shows(["added/id"], "answers carry the id of their request, also when they come out of order", async () => {
    const { connect } = await serve([{ text: "hi" }]);
    const client = await connect();
    for (const id of ["a", 7]) client.say({ type: "get-background-task", taskId: String(id), id });
    client.say({ type: "abort", id: "b" });
    client.say({ type: "odd", id: "c" });
    client.say({ type: "submit", prompt: "go", id: "d" });
    await client.next("complete");
    const answers = client.received.flatMap(({ id, type }) => (id === undefined ? [] : [[id, type]]));
    assert.deepEqual(
      answers.toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
      [
        [7, "background_task"],
        ["a", "background_task"],
        ["b", "ok"],
        ["c", "protocol_error"],
        ["d", "accepted"],
      ],
    );
  });

  shows(["added/key"], "a prompt that is sent again with its key runs once", async () => {
    const { connect, provider } = await serve([{ text: "hi" }, { text: "again" }]);
    const client = await connect();
    const submit = { type: "submit", prompt: "go", key: "k", id: 1 };
    const first = await client.ask(submit, "accepted");
    await client.next("complete");
    const second = await client.ask(submit, "accepted");
    assert.deepEqual([first["repeated"], second["repeated"], first["turnId"] === second["turnId"]], [false, true, true]);
    assert.equal(provider.requests.length, 1);
  });

  shows(["added/seq", "added/after"], "wherever a client stops, it comes back and has every stored event once", async () => {
    const { session, connect } = await serve(
      [
        { ...call("Glob", { pattern: "*.none" }), text: "Looking.", ...used },
        { text: "Nothing there.", ...used },
      ],
      {},
      (path) => (path === "/" ? {} : { after: Number(path.slice(1)) }),
    );
    const client = await connect();
    await client.converse("go");
    const seqs = client.received.flatMap(({ seq }) => (typeof seq === "number" ? [seq] : []));
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].toSorted((a, b) => a - b),
    );
    assert.ok(seqs.length >= 8 && client.received.every(({ type, seq }) => type !== "text_delta" || seq === undefined));
    const numbered = client.received.filter(({ seq }) => seq !== undefined);
    for (const after of [0, ...seqs]) {
      const again = await connect(`/${after}`);
      if (after !== seqs.at(-1)) await again.next("complete");
      assert.deepEqual(
        again.received.filter(({ seq }) => seq !== undefined),
        numbered.filter(({ seq }) => Number(seq) > after),
        `after ${after}`,
      );
      await again.leave();
    }
    assert.equal(session.lastSeq >= Number(seqs.at(-1)), true);
  });

  shows(["added/resync"], "a position that is none of this session's gets one snapshot, and then what happens", async () => {
    const { session, connect } = await serve([{ text: "hi" }, { text: "more" }], {}, () => ({ after: 1_000_000 }));
    await session.submit("go");
    const client = await connect();
    const { seq, messages, executing, pending } = await client.next("resync");
    assert.deepEqual([seq, (messages as unknown[]).length, executing, pending], [session.lastSeq, 2, false, null]);
    assert.equal(await client.converse("on"), "more");
    assert.equal(client.received.filter(({ type }) => type === "resync").length, 1);
  });

  const asking = { allowedTools: [], answersPermissions: true, permissionMode: "default" } as const;
  const touch = call("Bash", { command: "touch made", description: "make" });

  shows(["added/permission"], "everybody is asked, the first answer wins, and the others are told", async () => {
    const { connect } = await serve([touch, { text: "Done." }], asking);
    const [first, second] = [await connect(), await connect()];
    first.say({ type: "submit", prompt: "go" });
    const questions = await Promise.all([first.next("permission_request"), second.next("permission_request")]);
    const { requestId, toolName, toolCallId, input } = questions[0];
    assert.deepEqual([toolName, toolCallId, (input as { command: string }).command], ["Bash", "c1", "touch made"]);
    assert.equal(questions[1]["requestId"], requestId);
    const late = await connect();
    assert.equal((await late.next("permission_request"))["requestId"], requestId, "whoever comes later is asked, too");
    second.say({ type: "permission-response", requestId, decision: "allow", id: 1 });
    await second.next("ok");
    for (const client of [first, second, late]) {
      const { kind, resolution, by } = await client.next("prompt_resolved");
      assert.deepEqual([kind, resolution, by], ["permission", "allow", "user"]);
    }
    const refused = await first.ask({ type: "permission-response", requestId, decision: "deny" }, "protocol_error");
    assert.equal(refused["code"], "not-found");
    const { result } = await first.next("complete");
    assert.equal((result as { toolSummaries: { result: string }[] }).toolSummaries[0]?.result, "success");
  });

  shows(
    ["added/disconnect"],
    "when the last one who could answer leaves, the answer is no, and so is every later one",
    async () => {
      const { session, connect, left } = await serve([touch, touch, { text: "Then not." }], asking, (path) => ({
        mayAnswer: path === "/",
      }));
      const client = await connect();
      const viewer = await connect("/viewer");
      client.say({ type: "submit", prompt: "go" });
      await client.next("permission_request");
      client.vanish();
      const { result } = await viewer.next("complete");
      assert.deepEqual(
        (result as { toolSummaries: { result: string }[] }).toolSummaries.map((tool) => tool.result),
        ["denied", "denied"],
      );
      await viewer.leave();
      await left();
      assert.deepEqual(session.openPermissions(), []);
    },
  );

  shows(["added/ask"], "a command asks, one client answers, and the other hears it", async () => {
    const execute = () => ({
      ...{ success: true, message: "" },
      interaction: {
        prompt: { type: "choice", message: "Which?", choices: [{ value: "a" }, { value: "b" }] } as const,
        submit: (value: string) => ({ success: true, message: `took ${value}` }),
      },
    });
    const { connect } = await serve([], {
      commands: [{ name: "pick", description: "asks", execute }],
      answersInteractions: true,
    });
    const [first, second] = [await connect(), await connect()];
    first.say({ type: "command", name: "pick" });
    const { requestId, command, prompt } = await second.next("ask_request");
    assert.deepEqual([command, (prompt as { message: string }).message], ["pick", "Which?"]);
    second.say({ type: "ask-response", requestId, value: "b" });
    const { kind, resolution } = await first.next("prompt_resolved");
    assert.deepEqual([kind, resolution], ["ask", "answered"]);
    assert.equal((await first.next("command_result"))["message"], "took b");
  });

  shows(["added/viewer"], "whoever may only look changes nothing, and sees the input masked", async () => {
    const secret = "sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const leak = call("Bash", { command: `echo ${secret} > made`, description: "make" });
    const { connect } = await serve([leak, { text: "Done." }], asking, (path) => ({
      mayDrive: path === "/",
      mayAnswer: path === "/",
    }));
    const [driver, viewer] = [await connect(), await connect("/viewer")];
    for (const message of [
      { type: "submit", prompt: "x" },
      { type: "abort" },
      { type: "permission-response", requestId: "a", decision: "deny" },
    ])
      assert.match(String((await viewer.ask(message, "protocol_error"))["message"]), /may only look/);
    assert.equal((await viewer.ask({ type: "get-executing" }, "executing"))["executing"], false);
    driver.say({ type: "submit", prompt: "go" });
    const [real, masked] = await Promise.all([driver.next("permission_request"), viewer.next("permission_request")]);
    assert.ok(JSON.stringify(real["input"]).includes(secret));
    assert.ok(!JSON.stringify(masked).includes(secret));
    driver.say({ type: "permission-response", requestId: real["requestId"], decision: "deny" });
    await viewer.next("complete");
    assert.ok(!JSON.stringify(viewer.received).includes(secret));
  });

  shows(["added/limits"], "messages that are too long, and too many requests at once, are refused", async () => {
    const { opened, open } = gate();
    const { connect, provider } = await serve([() => opened.then(() => ({ text: "hi" }))], {}, () => ({
      maxMessageLength: 10_000,
    }));
    const client = await connect();
    client.say({ type: "submit", prompt: "x".repeat(10_000) });
    assert.equal((await client.next("protocol_error"))["message"], "A message has at most 10000 characters");
    for (let count = 0; count < 300; count++) client.say({ type: "submit", prompt: `${count}` });
    assert.equal((await client.next("protocol_error"))["code"], "busy");
    await client.ask({ type: "cancel-queue", id: 1 }, "ok");
    open();
    await client.next("complete");
    assert.equal(provider.requests.length, 1);
  });

  shows(["added/send-fails"], "a send that throws ends that connection alone", async () => {
    const session = openSession([{ text: "hi" }]).session;
    const ends: unknown[] = [];
    const seen: string[] = [];
    let tries = 0;
    const fail = (): void => {
      tries++;
      throw new Error("gone");
    };
    createWsHandler({ session, send: fail, onEnd: (reason) => ends.push(reason?.message) });
    const good = createWsHandler({ session, send: ({ type }) => void seen.push(type) });
    await session.submit("go");
    good.cleanup();
    await session.shutdown();
    assert.deepEqual([ends, tries, seen.includes("complete")], [["gone"], 1, true]);
  });

  shows(["added/slow"], "a client that stays behind is let go alone, with a reason it can act on", async () => {
    const text = Array.from({ length: 200 }, (_, count) => `w${count}`).join(" ");
    const session = openSession([{ text }, { text: "more" }]).session;
    const { opened, open } = gate();
    const slow: ServerMessage[] = [];
    const ended = new Promise<string | undefined>((resolve) => {
      const send = (message: ServerMessage) => {
        slow.push(message);
        return opened;
      };
      createWsHandler({ session, capacity: 50, send, onEnd: (reason) => resolve(reason?.code) });
    });
    const quick: ServerMessage[] = [];
    createWsHandler({ session, send: (message) => void quick.push(message) });
    await session.submit("go");
    open();
    assert.equal(await ended, "subscriber-overflow");
    const last = slow.at(-1);
    assert.deepEqual(last?.type === "error" && [last.code, last.retryable], ["subscriber-overflow", true]);
    assert.ok(slow.length <= 60);
    await session.submit("on");
    await session.shutdown();
    assert.equal(quick.filter(({ type }) => type === "complete").length, 2);
    assert.equal(quick.flatMap((message) => (message.type === "text_delta" ? [message.delta] : [])).join(""), `${text}more`);
  });
});
