import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { textOf, userText } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "outrider-references-")));
after(() => rmSync(root, { recursive: true, force: true }));
const cwd = join(root, "project");
const files: Record<string, string | Buffer> = {
  "a.txt": "one\ntwo\nthree\n",
  "with space.txt": "spaced\n",
  "d/x.txt": "x\n",
  "secrets/key.txt": "very private\n",
  "app.py": "@app.route('/')\n@a.txt\n",
  "docs/spec.md": "See @part.md and `@code.md`, thanks @../a.txt @../../outside.txt\n",
  "docs/part.md": "The part, of @spec.md and @deep.md\n",
  "docs/deep.md": "too deep\n",
  "docs/code.md": "code\n",
  "bin.dat": Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0xff, 0xfe, 3]),
  "../outside.txt": "outside\n",
  "../beside.txt": "beside\n",
  "../behind.txt": "behind\n",
  "big.txt": "0123456789\n".repeat(6000),
  ...Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`n${n}.txt`, `number ${n}\n`])),
};
for (const [name, text] of Object.entries(files)) {
  const path = join(cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function open(options: Partial<SessionOptions> = {}, replies: readonly ScriptStep[] = [{ text: "done" }, { text: "again" }]) {
  const provider = createScriptedProvider(replies);
  const store = options.sessionStore ?? createMemoryStore();
  const session = new InteractiveSession({ cwd, provider, ...options, sessionStore: store });
  return { provider, store, session };
}

/** What the model was sent for one prompt, and what was told about it. */
async function ask(prompt: string, options: Partial<SessionOptions> = {}) {
  const { provider, store, session } = open(options);
  const outcome = await session.submit(prompt);
  const history = session.getFullHistory();
  await session.shutdown();
  const [request] = provider.requests;
  const sent = (request?.messages ?? []).map(({ content }) => textOf(content as Parameters<typeof textOf>[0]));
  const events = await store.read(session.id);
  const of = <T extends AgentEvent["type"]>(type: T): AgentEvent<T>[] =>
    events.filter((event) => event.type === type) as AgentEvent<T>[];
  return {
    outcome,
    history,
    events,
    sent: sent.slice(1).join("\n"),
    prompt: sent[0],
    read: of("references.read").flatMap(({ references }) => references),
    warnings: of("warning.raised").map(({ message }) => message),
  };
}

describe("@file in a prompt", () => {
  it("gives the model the file behind the prompt, and keeps the prompt as it was typed", async () => {
    const { prompt, sent, read, history, warnings } = await ask("compare @a.txt. please");
    assert.equal(prompt, "compare @a.txt. please");
    assert.equal(sent, '<file path="a.txt">\n     1\tone\n     2\ttwo\n     3\tthree\n</file>');
    const record = { reference: "a.txt", path: join(cwd, "a.txt"), depth: 1, byteLength: 14, status: "read" };
    assert.deepEqual([read, warnings], [[record], []]);
    assert.deepEqual(
      history
        .filter(({ type }) => type === "user" || type === "prompt-file-reference")
        .map(({ type, data }) => [type, JSON.stringify(data).includes("three")]),
      [
        ["user", false],
        ["prompt-file-reference", false],
      ],
    );
  });

  it("never holds up a prompt for a word that names nothing", async () => {
    const { outcome, sent, read, warnings } = await ask("thanks @john.doe, mail me@example.org @types/node @nobody:x");
    assert.deepEqual([outcome.type, sent, read, warnings], ["completed", "", [], []]);
  });

  it("takes lines, folders, quotes and brackets", async () => {
    const { sent } = await ask('@a.txt#L2-3 (@"with space.txt") @d');
    assert.match(sent, /<file path="a.txt#L2-3">\n {5}2\ttwo\n {5}3\tthree\n/);
    assert.doesNotMatch(sent, /1\tone/);
    assert.match(sent, /<file path="with space.txt">\n {5}1\tspaced\n/);
    assert.match(sent, /<file path="d">\n[\s\S]*x\.txt[\s\S]*<\/file>/);
  });

  it("means files with brackets in their names, and what stands before a bracket where there is no such file", async () => {
    mkdirSync(join(cwd, "app/[id]/(shop)"), { recursive: true });
    writeFileSync(join(cwd, "app/[id]/(shop)/page(1).txt"), "of the shop\n");
    const { sent, warnings } = await ask("(@app/[id]/(shop)/page(1).txt) and @a.txt(the first)");
    assert.match(sent, /<file path="app\/\[id\]\/\(shop\)\/page\(1\)\.txt">\n {5}1\tof the shop\n/);
    assert.match(sent, /<file path="a.txt">\n {5}1\tone\n/);
    assert.deepEqual(warnings, []);
  });

  it("obeys the rules that hold for the model, and tells both why a file is not there", async () => {
    const deny = [{ text: "Read(./secrets/**)", source: "settings" }];
    const { outcome, sent, warnings } = await ask("@secrets/key.txt @bin.dat @../outside.txt @./none.txt", {
      permissions: { deny },
    });
    assert.equal(outcome.type, "completed");
    assert.doesNotMatch(sent, /very private|outside\n/);
    for (const name of ["secrets/key.txt", "bin.dat", "../outside.txt", "./none.txt"]) {
      assert.ok(sent.includes(`[@${name} was not read: `), name);
      assert.ok(
        warnings.some((message) => message.startsWith(`@${name} was not read: `)),
        name,
      );
    }
  });

  it("asks strangers' questions about a file outside whether it is there or not, and tells the same", async () => {
    const told = async (name: string): Promise<string> => {
      const { events, sent } = await ask(`@${name}`, { promptsFrom: "strangers" });
      const seen = events.filter(({ type }) => /^permission|^references|^warning/.test(type));
      const said = `${JSON.stringify(seen)}\n${sent}`.replaceAll(/"(?:id|at|\w+Id)":"[^"]*"/g, "");
      return said.replaceAll(name, "NAME").replaceAll(join(cwd, name), "PATH");
    };
    const there = await told("../outside.txt");
    assert.match(there, /@NAME was not read: /);
    assert.equal(await told("../nothing.txt"), there);
  });

  it("asks about all files outside of the project at once, so that nobody is waited for more than once", async () => {
    const { session, provider } = open({ answersPermissions: true });
    const asked: string[] = [];
    session.on("permission_request", ({ requestId }) => {
      asked.push(requestId);
      if (asked.length === 3) for (const id of asked) session.answerPermission(id, id === asked[1] ? "deny" : "allow");
    });
    await session.submit("@../outside.txt @a.txt @../beside.txt @../behind.txt");
    await session.shutdown();
    const sent = JSON.stringify(provider.requests[0]?.messages);
    const places = ["outside\\\\n", "three", "@../beside.txt was not read", "behind\\\\n"].map((text) => sent.search(text));
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
    );
    assert.ok(places.every((place) => place > 0));
  });

  it("follows prose to one more file inside the project, never code, never out, never round", async () => {
    const { read } = await ask("@docs/spec.md @app.py");
    assert.deepEqual(
      read.map(({ reference, depth }) => [reference, depth]),
      [
        ["docs/spec.md", 1],
        ["part.md", 2],
        ["../a.txt", 2],
        ["app.py", 1],
      ],
    );
  });

  it("takes eight of them and says how many were left out", async () => {
    const { read, sent, warnings } = await ask(Array.from({ length: 10 }, (_, n) => `@n${n}.txt`).join(" "));
    assert.equal(read.length, 8);
    assert.deepEqual(warnings, ["A prompt may name 8 files; 2 more were left out"]);
    assert.match(sent, /\[@n8\.txt was left out\.\]/);
  });

  it("names eight of those it left out, and only counts the others", async () => {
    const names = Array.from({ length: 20 }, (_, n) => `more${n}.txt`);
    for (const name of names) writeFileSync(join(cwd, name), name);
    const { sent, warnings } = await ask(names.map((name) => `@${name}`).join(" "));
    assert.equal(sent.split("was left out.]").length - 1, 8);
    assert.deepEqual(warnings, ["A prompt may name 8 files; 12 more were left out"]);
  });

  it("means a file that is called like lines of another", async () => {
    writeFileSync(join(cwd, "a.txt#L2"), "its own words\n");
    assert.match((await ask("@a.txt#L2")).sent, /its own words/);
    rmSync(join(cwd, "a.txt#L2"));
  });

  it("stays short about many that are not there", async () => {
    const { sent, read, warnings } = await ask(Array.from({ length: 5_000 }, (_, n) => `@./none-${n}.txt`).join(" "));
    assert.deepEqual([read.length, warnings.length, sent.length < 1_000], [8, 9, true]);
    assert.match(sent, /4992 more of the files that the prompt names are not there/);
  });

  it("gives the beginning of a long file, and says so", async () => {
    const { sent, warnings } = await ask("@big.txt");
    assert.match(sent, /Go on with offset/);
    assert.deepEqual(warnings, ["@big.txt has 66000 bytes: the model was given its beginning, and where to read on"]);
  });

  it("is text where a program has put the prompt together", async () => {
    const { session, provider } = open();
    await session.submit({ ...userText("@a.txt"), isVerbatim: true });
    await session.shutdown();
    assert.equal(provider.requests[0]?.messages.length, 1);
  });

  it("is read for a prompt that joins a turn too", async () => {
    const { session, provider } = open({}, [
      { calls: [{ name: "Glob", input: { pattern: "*.none" } }], delayMs: 20 },
      { text: "both" },
    ]);
    const first = session.submit("one");
    await session.accept("and @a.txt", { mode: "steer" });
    await first;
    await session.shutdown();
    const last = provider.requests[1]?.messages.slice(-2).map(({ content }) => textOf(content as Parameters<typeof textOf>[0]));
    assert.deepEqual(last, ["and @a.txt", '<file path="a.txt">\n     1\tone\n     2\ttwo\n     3\tthree\n</file>']);
  });

  it("is sent to the letter again when the session goes on, whatever the file holds then", async () => {
    const { session, provider, store } = open();
    writeFileSync(join(cwd, "changing.txt"), "before\n");
    await session.submit("@changing.txt");
    await session.shutdown();
    writeFileSync(join(cwd, "changing.txt"), "after\n");
    const again = open({ sessionStore: store, resumeSessionId: session.id });
    await again.session.submit("two");
    await again.session.shutdown();
    const [first] = provider.requests;
    const [second] = again.provider.requests;
    assert.deepEqual(second?.messages.slice(0, 2), first?.messages);
  });
});

describe("/context add", () => {
  it("brings a file along with prompts, when it is new or has changed, and goes on with the session", async () => {
    const path = join(cwd, "notes.txt");
    writeFileSync(path, "first\n");
    const { session, provider, store } = open({}, [{ text: "1" }, { text: "2" }, { text: "3" }]);
    assert.match((await session.submit("/context add notes.txt")).text, /^notes\.txt comes with every prompt/);
    await session.submit("one");
    await session.submit("two");
    writeFileSync(path, "second one\n");
    await session.submit("three");
    const listed = await session.submit("/context list");
    assert.equal(listed.text, "with every prompt: notes.txt");
    await session.shutdown();
    const shown = (request: (typeof provider.requests)[number] | undefined): string[] =>
      (request?.messages ?? []).flatMap(
        ({ content }) => /first|second/.exec(textOf(content as Parameters<typeof textOf>[0]))?.[0] ?? [],
      );
    assert.deepEqual(provider.requests.map(shown), [["first"], ["first"], ["first", "second"]]);
    const again = open({ sessionStore: store, resumeSessionId: session.id });
    await again.session.submit("four");
    await again.session.submit("/context remove notes.txt");
    writeFileSync(path, "third\n");
    await again.session.submit("five");
    await again.session.shutdown();
    assert.deepEqual(again.provider.requests.map(shown), [
      ["first", "second"],
      ["first", "second"],
    ]);
  });

  it("lists files that prompts have named too, the last ones last, here and when the session goes on", async () => {
    const { session, store } = open({}, Array(5).fill({ text: "ok" }));
    const listOf = async (one: InteractiveSession): Promise<string> => (await one.submit("/context list")).text;
    for (const prompt of ["@n0.txt", "@n1.txt", "@./none.txt", "@n0.txt"]) await session.submit(prompt);
    await session.submit("/context add n2.txt");
    const listed = "with every prompt: n2.txt\nnamed in a prompt: n1.txt\nnamed in a prompt: n0.txt";
    assert.equal(await listOf(session), listed);
    await session.submit("and @n2.txt");
    assert.equal(await listOf(session), listed);
    await session.shutdown();
    const again = open({ sessionStore: store, resumeSessionId: session.id });
    assert.equal(await listOf(again.session), listed);
    await again.session.shutdown();
  });

  it("adds a file once, and up to 256 KiB to the byte", async () => {
    const { session } = open();
    writeFileSync(join(cwd, "most.txt"), "x".repeat(256 * 1024 - 14));
    for (const name of ["a.txt", "a.txt", "most.txt"]) await session.submit(`/context add ${name}`);
    assert.equal((await session.submit("/context list")).text, "with every prompt: a.txt\nwith every prompt: most.txt");
    const more = await session.submit("/context add d/x.txt");
    assert.match(more.type === "failed" ? more.error.message : "", /256 KiB together, and d\/x\.txt has 2 bytes/);
    const wrong = await session.submit("/context remove most.tx");
    assert.match(wrong.type === "failed" ? wrong.error.message : "", /Did you mean most\.txt\?/);
    await session.shutdown();
  });

  it("takes no file that a rule forbids", async () => {
    const { session } = open({ permissions: { deny: [{ text: "Read(./secrets/**)", source: "settings" }] } });
    const outcome = await session.submit("/context add secrets/key.txt");
    assert.match(outcome.type === "failed" ? outcome.error.message : "", /A rule forbids to read secrets\/key\.txt/);
    assert.equal((await session.submit("/context list")).text, "No file was named or added");
    await session.shutdown();
  });

  it("says the same to strangers whether a file that may not be read is there or not", async () => {
    symlinkSync(join(root, "outside.txt"), join(cwd, "to-file"));
    symlinkSync(join(root, "nothing.txt"), join(cwd, "to-nothing"));
    const { session } = open({ promptsFrom: "strangers" });
    const said = async (name: string): Promise<string> => {
      const outcomes = [await session.submit(`/context add ${name}`), await session.submit(`/context remove ${name}`)];
      return outcomes.map((one) => (one.type === "failed" ? one.error.message : one.text).replaceAll(name, "NAME")).join("\n");
    };
    const names = [
      "../outside.txt",
      "../nothing.txt",
      "../outside.txt/x",
      "..",
      "~/nothing",
      "/etc/hosts/x",
      "to-file",
      "to-nothing",
    ];
    const [first, ...others] = await Promise.all(names.map(said));
    assert.match(first ?? "", /may not be read without permission.*\n.*not among them/);
    assert.deepEqual(new Set(others), new Set([first]));
    assert.match((await session.submit("/context add a.txt")).text, /^a\.txt comes with every prompt/);
    await session.shutdown();
  });

  const refused: readonly (readonly [string, RegExp])[] = [
    ["/context add none.txt", /no file none\.txt/],
    ["/context add d", /no file d/],
    ["/context remove a.tx", /not among them/],
    ["/context bogus", /There is \/context, /],
  ];
  for (const [typed, said] of refused)
    it(`says why not: ${typed}`, async () => {
      const { session } = open();
      const outcome = await session.submit(typed);
      assert.match(outcome.type === "failed" ? outcome.error.message : "", said);
      await session.shutdown();
    });

  it("takes eight files and 256 KiB, and forgets them with clear", async () => {
    const { session } = open();
    for (let n = 0; n < 8; n++) await session.submit(`/context add n${n}.txt`);
    const ninth = await session.submit("/context add n8.txt");
    assert.match(ninth.type === "failed" ? ninth.error.message : "", /8 files already/);
    await session.submit("/context clear");
    assert.equal((await session.submit("/context list")).text, "No file was named or added");
    writeFileSync(join(cwd, "huge.txt"), "x".repeat(256 * 1024 + 1));
    const huge = await session.submit("/context add huge.txt");
    assert.match(huge.type === "failed" ? huge.error.message : "", /256 KiB together/);
    await session.shutdown();
  });
});
