import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createNotesModule } from "../examples/command-module/notes.ts";
import {
  createMemoryStore,
  createScriptedProvider,
  InteractiveSession,
  type InteractiveSessionOptions,
  type SystemCommand,
} from "@outrider/runtime";
import { CommandRegistry, commandToolName, SystemCommandExecutor } from "@outrider/runtime/commands";

const folder = mkdtempSync(join(tmpdir(), "outrider-commands-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Replies = Parameters<typeof createScriptedProvider>[0];

function open(replies: Replies, more: Partial<InteractiveSessionOptions> = {}) {
  const cwd = mkdtempSync(join(folder, "project-"));
  const provider = createScriptedProvider(replies);
  const session = new InteractiveSession({
    cwd,
    provider,
    bare: true,
    outriderHome: join(folder, "home"),
    sessionStore: createMemoryStore(),
    ...more,
  });
  return { cwd, provider, session };
}

function failing(name: string, execute: SystemCommand["execute"]): SystemCommand {
  return { name, description: name, execute };
}

describe("commands of every session", () => {
  const typed: [text: string, said: RegExp][] = [
    ["/help", /^\/compact \[[\s\S]*\n\/clear: [\s\S]*\/validate-session: /],
    ["/skills", /^There are no skills$/],
    ["/context", /tokens/],
    ["/context auto 70%", /tokens/],
    ["/cost", /^Cost: .*\n[\s\S]*Session: /],
    ["/model", /^scripted\//],
    ["/model other-1", /^The model is other-1 now\./],
    ["/agent", /^[\s\S]*general-purpose: /],
    ["/background", /^Nothing runs in the background$/],
    ["/mode", /^Mode default\. /],
    ["/provider", /^scripted\/other-1$/],
    ["/provider list", /^No profile is set up\nWith a key/],
    ["/user-local storage list", /^Root: .*\npreferences: 0 in /],
    ["/permissions", /^Mode default\. /],
    ["/permissions plan", /^Mode plan\. /],
    ["/rename  my   work ", /^The session is called my work$/],
    ["/validate-session", /^The session can be replayed/],
    ["/clear", /^The conversation begins anew$/],
  ];
  it("answer without a model", async () => {
    const { session, provider } = open([{ text: "one" }, { text: "two" }]);
    await session.submit("first words");
    for (const [text, said] of typed) {
      const outcome = await session.submit(text);
      assert.equal(outcome.type, "completed", `${text}: ${JSON.stringify(outcome)}`);
      assert.match(outcome.text, said, text);
    }
    assert.deepEqual([session.getName(), await session.getAutoCompactThreshold()], ["my work", 0.7]);
    assert.equal(provider.requests.length, 1);
    await session.submit("second words");
    const [, second] = provider.requests;
    assert.equal(second?.model, "other-1");
    assert.doesNotMatch(JSON.stringify(second?.messages), /first words/);
    await session.shutdown();
  });

  it("say what to do instead where the program has no such thing, and are done where it has", async () => {
    const wishes: [text: string, said: RegExp][] = [
      ["/exit", /a run ends with its last prompt/],
      ["/resume", /--resume SESSION/],
      ["/reset", /are deleted by hand/],
      ["/statusline git-branch off", /no status line/],
      ["/rename", /A name is needed/],
      ["/permissions nonsense", /There is no mode "nonsense"/],
      ["/context nonsense", /There is \/context/],
      ["/skills nothing", /Unknown skill: nothing/],
      ["/agent run nobody look", /There is no agent nobody/],
      ["/agent run", /There is \/agent list/],
      ["/agent stop 1", /No task 1 is at work/],
      ["/background bogus", /There is \/background list/],
      ["/background read 1 x", /x is no offset/],
      ["/background cancel 1", /No task 1 is at work/],
      ["/provider bogus x", /There is \/provider/],
      ["/provider use nobody", /nobody/],
      ["/user-local bogus", /user-local takes/],
      ["/memory", /no project memory/],
    ];
    const alone = open([], { promptsFrom: "owner" });
    for (const [text, said] of wishes) {
      const outcome = await alone.session.submit(text);
      assert.match(outcome.type === "failed" ? outcome.error.message : "", said, text);
    }
    await alone.session.shutdown();
    const heard: string[] = [];
    const applyEffect = async ({ type }: { readonly type: string }) => {
      heard.push(type);
      return "done";
    };
    const { session } = open([], { commandAdapters: { applyEffect } });
    for (const text of ["/exit", "/resume", "/reset", "/language Latin", "/statusline git-branch off"])
      assert.equal((await session.submit(text)).type, "completed", text);
    assert.deepEqual(heard, [
      "session-exit-requested",
      "session-picker-requested",
      "settings-reset-requested",
      "language-change-requested",
      "statusline-settings-patch",
    ]);
    await session.shutdown();
  });

  it("have an agent work, whose answer is no part of the conversation", async () => {
    const { session, provider } = open([{ text: "found it" }, { text: "later" }]);
    assert.equal((await session.submit("/agent run general-purpose look for\nit")).text, "found it");
    await session.submit("next");
    await session.shutdown();
    assert.match(JSON.stringify(provider.requests[0]?.messages), /look for\\nit/);
    assert.doesNotMatch(JSON.stringify(provider.requests[1]?.messages), /look for|found it/);
  });

  it("show what a task printed, stop it and forget it", async () => {
    const start = { calls: [{ name: "Bash", input: { command: "echo hello; sleep 60", run_in_background: true } }] };
    const { session } = open([start, { text: "done" }, { text: "told" }], {
      permissionMode: "bypassPermissions",
      sandbox: { mode: "off" },
      wakes: false,
    });
    const printed = (async () => {
      for await (const event of session.events()) if (event.type === "background.delta" && event.text.includes("hello")) return;
    })();
    await session.submit("go");
    await printed;
    const [task] = session.listBackgroundTasks();
    assert.ok(task);
    assert.match((await session.submit("/background")).text, new RegExp(`^${task.id} running process: `));
    assert.match((await session.submit(`/background read ${task.id}`)).text, /^\[stdout\] hello\n\(it goes on with /);
    assert.equal((await session.submit(`/background cancel ${task.id}`)).text, `${task.id} is stopped`);
    assert.equal((await session.submit(`/background close ${task.id}`)).text, `${task.id} is forgotten`);
    assert.equal((await session.submit("/background list")).text, "Nothing runs in the background");
    await session.shutdown();
  });

  it("are exactly those that are listed", async () => {
    const { session } = open([]);
    const help = await session.executeCommand("help", "");
    const names = session.listCommands().map(({ name }) => name);
    assert.deepEqual(
      help?.message.split("\n").map((line) => /^\/([\w-]+)/.exec(line)?.[1]),
      names,
    );
    assert.equal(await session.executeCommand("nothing", ""), null);
    await session.shutdown();
  });

  it("put files back", async () => {
    const write = { calls: [{ name: "Write", input: { file_path: "a.txt", content: "changed" } }] };
    const { session, cwd } = open([write, { text: "done" }], { bare: false, permissionMode: "acceptEdits" });
    await session.submit("write it");
    const [checkpoint] = await session.listEditCheckpoints();
    assert.ok(checkpoint);
    assert.match((await session.submit("/rewind")).text, /1 files: write it$/);
    assert.match((await session.submit(`/rewind inspect ${checkpoint.id}`)).text, /rollback: .*a\.txt/);
    assert.match((await session.submit(`/rewind rollback ${checkpoint.id}`)).text, /^Put back: .*a\.txt$/);
    assert.equal(existsSync(join(cwd, "a.txt")), false);
    await session.shutdown();
  });

  it("answer while a turn runs if they are inline, and are refused if they are not", async () => {
    const { session } = open([{ text: "slow", delayMs: 2_000 }]);
    const turn = session.submit("go");
    for await (const event of session.events()) if (event.type === "turn.started") break;
    assert.equal((await session.executeCommand("context", ""))?.success, true);
    assert.deepEqual(await session.executeCommand("clear", ""), { success: false, message: "A turn is running" });
    session.abort();
    await turn;
    await session.shutdown();
  });
});

describe("a module of another package", () => {
  const module = () => ({ commandModules: [createNotesModule()] });

  it("adds a command with subcommands, an effect and a tool", async () => {
    const { session, provider } = open(
      [{ calls: [{ name: "outrider_command_notes", input: { args: "add from the model" } }] }, { text: "done" }],
      module(),
    );
    assert.equal((await session.submit("/notes add by hand")).text, "Note 1: by hand");
    await session.submit("go");
    assert.match(JSON.stringify(provider.requests[1]?.messages), /Note 2: from the model/);
    assert.equal((await session.submit("/notes")).text, "by hand\nfrom the model");
    await session.submit("/notes name 2");
    assert.equal(session.getName(), "from the model");
    await session.shutdown();
    const registry = new CommandRegistry().addModule(createNotesModule());
    assert.deepEqual(
      registry.getSubcommands("notes").map(({ name }) => name),
      ["add", "new", "name"],
    );
    assert.deepEqual(
      registry.getCommands("no").map(({ name, source }) => [name, source]),
      [["notes", "notes"]],
    );
  });

  it("is judged like a change of a file when a model calls what writes", async () => {
    const publish: SystemCommand = {
      name: "publish",
      description: "Publish",
      modelInvocable: true,
      execute: (_, args) => ({ success: true, message: `published ${args}` }),
    };
    for (const [more, said] of [
      [{}, /nobody is here to give it/],
      [{ permissionMode: "acceptEdits" }, /published it/],
      [{ allowedTools: ["outrider_command_publish"] }, /published it/],
    ] as const) {
      const call = { calls: [{ name: "outrider_command_publish", input: { args: "it" } }] };
      const { session, provider } = open([call, { text: "done" }], { commands: [publish], ...more });
      await session.submit("go");
      assert.match(JSON.stringify(provider.requests[1]?.messages.at(-1)), said);
      await session.shutdown();
    }
  });

  it("asks two questions, takes only answers that fit, and is cancelled with nobody there", async () => {
    const { session } = open([], { ...module(), answersInteractions: true });
    const answers = ["nonsense", "idea", "  ", "fly"];
    const asked: string[] = [];
    const answering = (async () => {
      for await (const event of session.events({ types: ["interaction.requested"] })) {
        asked.push((event.prompt as { message: string }).message);
        session.answerInteraction(event.interactionId, answers.shift());
      }
    })();
    assert.equal((await session.submit("/notes new")).text, "Note 1: idea: fly");
    assert.deepEqual(asked, ["What kind of note?", "What kind of note?", "Which words?", "Which words?"]);
    answers.push("x", "y", "z");
    const given = await session.submit("/notes new");
    assert.equal(given.type === "failed" && given.error.message, "No note was made");
    await session.shutdown();
    await answering;
    const alone = open([], module());
    const outcome = await alone.session.submit("/notes new");
    assert.equal(outcome.type === "failed" && outcome.error.message, "No note was made");
    await alone.session.shutdown();
  });
});

describe("a command that misbehaves", () => {
  it("has failed, and the session goes on", async () => {
    const commands = [
      failing("throws", () => {
        throw new Error("broken inside");
      }),
      failing("silent", () => undefined as never),
      failing("asks", () => {
        const prompt = JSON.parse('{"type":"choice","message":"Which?","options":["a"]}');
        return { success: true, message: "", interaction: { prompt, submit: () => ({ success: true, message: "" }) } };
      }),
      failing("endless", () => new Promise(() => {})),
    ];
    const { session } = open([{ text: "still here" }], { commands });
    for (const [text, said] of [
      ["/throws", /broken inside/],
      ["/silent", /ended without a result/],
      ["/asks", /The question of \/asks\.choices must be a list of choices, not undefined/],
    ] as const) {
      const outcome = await session.submit(text);
      assert.match(outcome.type === "failed" ? outcome.error.message : "", said);
    }
    const endless = session.submit("/endless");
    for await (const event of session.events()) if (event.type === "turn.started") break;
    session.interrupt();
    assert.equal((await endless).type, "cancelled");
    assert.equal((await session.submit("go")).text, "still here");
    await session.shutdown();
  });

  it("gets what was typed to the letter", async () => {
    const heard: string[] = [];
    const listen = failing("listen", (_, args) => {
      heard.push(args);
      return { success: true, message: "heard" };
    });
    const { session } = open([], { commands: [listen] });
    await session.submit('/listen  "two  words"\n$& \\x');
    assert.deepEqual(heard, ['"two  words"\n$& \\x']);
    await session.shutdown();
  });

  it("has a name that can be a tool, and no other command's", async () => {
    const model = { modelInvocable: true, description: "x", execute: () => ({ success: true, message: "" }) };
    for (const [names, said] of [
      [["a.b", "a:b"], /The commands a\.b and a:b would both be the tool outrider_command_a_b/],
      [["x".repeat(60)], /has more than 64 characters/],
    ] as const) {
      const { session } = open([], { commands: names.map((name) => ({ ...model, name })) });
      await assert.rejects(session.open(), said);
      await session.shutdown();
    }
    assert.equal(commandToolName("my:audit"), "outrider_command_my_audit");
    const executor = new SystemCommandExecutor([{ ...model, name: "one" }]);
    assert.throws(() => executor.register({ ...model, name: "one" }), /There is a command one already/);
  });

  it("that may write is asked about when the model runs it, and never run with nobody there", async () => {
    let ran = 0;
    const write: SystemCommand = {
      ...failing("drop", () => {
        ran++;
        return { success: true, message: "dropped" };
      }),
      modelInvocable: true,
    };
    const { session } = open([{ calls: [{ name: "outrider_command_drop", input: { args: "" } }] }, { text: "done" }], {
      commands: [write],
    });
    await session.submit("go");
    assert.equal(ran, 0);
    assert.equal((await session.submit("/drop")).text, "dropped");
    await session.shutdown();
  });
});
