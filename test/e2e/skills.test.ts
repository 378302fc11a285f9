import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines } from "./command.ts";
import { type Files, initOf, journalOf, place, sessionId, stream, textsOf, userLine } from "./skill-ground.ts";

describe("a command that is kept in a file", () => {
  const files: Files = {
    "project/.claude/commands/ns/deep/x.md": "FX DEEP $ARGUMENTS",
    "project/.claude/commands/x.md": "FX TOP X",
    "home/.claude/commands/x.md": "FX PERSONAL X",
    "home/.claude/commands/ns/p.md": "FX PERSONAL NS",
  };

  it("is the same turn one-shot and live, and the user's own counts before the project's", async () => {
    const typed = ["/ns:deep:x one", "/x", "/ns:p"];
    const bodies = ["FX DEEP one", "FX PERSONAL X", "FX PERSONAL NS"];
    const one = await place(files);
    const ended = await one.outrider(["-p", typed[0] ?? "", ...stream]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(textsOf(one.asked(0)), [
      "<command-message>ns:deep:x</command-message>\n<command-name>/ns:deep:x</command-name>\n<command-args>one</command-args>\n",
      "FX DEEP one",
    ]);
    assert.deepEqual((initOf(ended.stdout)["slash_commands"] as string[]).slice(0, 4), ["ns:deep:x", "ns:p", "x", "compact"]);
    const live = await place(files, [{ text: "1" }, { text: "2" }, { text: "3" }]);
    await live.outrider(["-p", ...stream, "--input-format", "stream-json"], typed.map(userLine).join(""));
    assert.deepEqual(textsOf(live.asked(0)), textsOf(one.asked(0)));
    assert.deepEqual(
      [0, 1, 2].map((at) => textsOf(live.asked(2), at * 2)[1]),
      bodies,
    );
  });

  it("is shown as it was typed, and stored as it was sent", async () => {
    const { outrider, cwd } = await place(files);
    await outrider(["-p", "/ns:deep:x one", "--session-id", sessionId]);
    const started = journalOf(cwd).find(({ type }) => type === "turn.started");
    assert.equal(started?.["displayInput"], "/ns:deep:x one");
    assert.match(JSON.stringify(started?.["input"]), /FX DEEP one/);
    assert.equal(started?.["command"], undefined);
  });

  it("may allow its own commands and choose its model where it is the user's or trusted, and nowhere else", async () => {
    const text = "---\nallowed-tools: Bash(touch *)\nmodel: claude-haiku-4-5\n---\nFX !`touch made.txt; echo ran` end";
    const mine = await place({ "home/.claude/commands/go.md": text });
    await mine.outrider(["-p", "/go"]);
    assert.deepEqual([textsOf(mine.asked(0))[1], mine.asked(0).model], ["FX ran end", "claude-haiku-4-5"]);
    assert.ok(existsSync(join(mine.cwd, "made.txt")));
    const theirs = await place({ "project/.claude/commands/go.md": text });
    const ended = await theirs.outrider(["-p", "/go"]);
    assert.equal(textsOf(theirs.asked(0))[1], "FX [not run: the project is not trusted] end");
    assert.notEqual(theirs.asked(0).model, "claude-haiku-4-5");
    assert.equal(existsSync(join(theirs.cwd, "made.txt")), false);
    assert.match(ended.stderr, /ignored from a project that is not trusted: allowed-tools of \/go .*, the model of \/go /);
    const trusted = await place({ "project/.claude/commands/go.md": text });
    await trusted.outrider(["-p", "/go", "--trust-project"]);
    assert.equal(textsOf(trusted.asked(0))[1], "FX ran end");
  });

  it("is not used when one of its commands needs a yes that nobody gives, and is when a rule forbids it", async () => {
    const command = { "home/.claude/commands/go.md": "FX !`touch made.txt` end" };
    const asks = await place(command);
    const ended = await asks.outrider(["-p", "/go", ...stream]);
    assert.deepEqual([asks.server.requests.length, existsSync(join(asks.cwd, "made.txt")), ended.code], [0, false, 64]);
    assert.match(
      JSON.stringify(lines(ended.stdout).at(-1)),
      /\/go was not used, because a command of it may not run: touch made\.txt/,
    );
    const denies = await place(command);
    assert.equal((await denies.outrider(["-p", "/go", "--disallowedTools", "Bash(touch *)"])).code, 0);
    assert.match(textsOf(denies.asked(0))[1] ?? "", /^FX \[not run: .*Bash\(touch \*\).*\] end$/s);
    const allows = await place(command);
    await allows.outrider(["-p", "/go", "--allowedTools", "Bash(touch *)"]);
    assert.ok(existsSync(join(allows.cwd, "made.txt")));
  });

  it("brings the files it names, if they may be read", async () => {
    const { outrider, asked } = await place({
      "home/.claude/commands/look.md": "Look at @a.txt and @a.txt#L2-3, @missing.txt, @$0 and $1",
      "project/a.txt": "FX 1\nFX 2\nFX 3\nFX 4\n",
      "project/.env": "TOKEN=sk-verysecretvalue0123456789",
    });
    const ended = await outrider(["-p", "/look .env @a.txt", "--disallowedTools", "Read(.env)"]);
    const [, whole, part, ...rest] = textsOf(asked(0));
    assert.match(whole ?? "", /^<file path="a\.txt">\n.*FX 1.*FX 4.*<\/file>$/s);
    assert.match(part ?? "", /^<file path="a\.txt#L2-3">\n[^F]*FX 2\n[^F]*FX 3\n(?!.*FX 4).*<\/file>$/s);
    assert.deepEqual(rest, ["Look at @a.txt and @a.txt#L2-3, @missing.txt, @.env and @a.txt"]);
    assert.match(ended.stderr, /@\.env was not read/);
  });
});

describe("words that begin with a slash", () => {
  it("are an error with the nearest name on every front end when there is no such command, and no model is asked", async () => {
    const files = { "home/.claude/commands/deploy.md": "FX" };
    for (const args of [
      stream,
      ["--output-format", "json"],
      [...stream, "--flavor", "robota"],
      [...stream, "--flavor", "caliban"],
    ]) {
      const { outrider, server } = await place(files);
      const ended = await outrider(["-p", "/deplyo now", ...args]);
      assert.match(ended.stdout + ended.stderr, /Unknown command \\?"\/deplyo\\?"\. Did you mean \/deploy\?/, args.join(" "));
      assert.deepEqual([ended.code === 0, server.requests.length], [false, 0], args.join(" "));
    }
    const live = await place(files);
    const ended = await live.outrider(
      ["-p", ...stream, "--input-format", "stream-json"],
      userLine("/deplyo") + userLine("go on"),
    );
    const results = lines(ended.stdout).filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map(({ is_error }) => is_error),
      [true, false],
    );
    assert.match(JSON.stringify(results[0]), /Unknown command/);
    assert.equal(live.server.requests.length, 1);
  });

  it("are a prompt when they are a path, stand elsewhere, or commands are off", async () => {
    const files = { "home/.claude/commands/deploy.md": "FX" };
    for (const text of ["/usr/bin/x y", "/ x", "//x", "see /deploy", " /deploy", "/tmp is full"]) {
      const { outrider, asked } = await place(files);
      await outrider(["-p", text]);
      assert.deepEqual(textsOf(asked(0)), [text]);
    }
    const off = await place(files);
    const ended = await off.outrider(["-p", "/deploy", "--disable-slash-commands", ...stream]);
    assert.deepEqual(textsOf(off.asked(0)), ["/deploy"]);
    const init = initOf(ended.stdout);
    assert.deepEqual([init["slash_commands"], init["skills"]], [[], []]);
    assert.doesNotMatch(JSON.stringify(off.asked(0).system), /## Skills/);
  });
});

describe("a skill", () => {
  const skill = (name: string, head: string, body: string): Files => ({
    [`home/.claude/skills/${name}/SKILL.md`]: `---\ndescription: FX about ${name}\n${head}---\n${body}\n`,
  });

  it("is only a name and a description until it is used", async () => {
    const { outrider, asked } = await place({
      ...skill("audit", "", "FX BODY"),
      ...skill("secret", "disable-model-invocation: true\n", "FX S"),
    });
    const ended = await outrider(["-p", "go", ...stream]);
    const system = JSON.stringify(asked(0).system);
    assert.match(system, /## Skills\\n\\n- audit: FX about audit"/);
    assert.doesNotMatch(system, /FX BODY|about secret/);
    const init = initOf(ended.stdout);
    const typed = (init["slash_commands"] as string[]).slice(0, 3);
    assert.deepEqual(
      [init["skills"], typed],
      [
        ["audit", "secret"],
        ["audit", "secret", "compact"],
      ],
    );
    assert.ok(asked(0).tools.some(({ name }) => name === "Skill"));
  });

  it("is used by the model under both names, its text comes after the result, and the files beside it may be read", async () => {
    const files = {
      ...skill("audit", "allowed-tools: Bash(touch *)\n", "FX BODY $0"),
      "home/.claude/skills/audit/notes.md": "FX NOTES",
    };
    const { outrider, asked, cwd } = await place(files, [
      { calls: [{ name: "Skill", input: { skill: "/audit", args: "src" } }] },
      { calls: [{ name: "outrider_command_skills", input: { args: "audit lib" } }] },
      {
        calls: [
          { name: "Read", input: { file_path: "../home/.claude/skills/audit/notes.md" } },
          { name: "Bash", input: { command: "touch made.txt" } },
        ],
      },
      { text: "done" },
    ]);
    const ended = await outrider(["-p", "go", ...stream]);
    const frames = lines(ended.stdout);
    const synthetic = frames.filter(({ isSynthetic }) => isSynthetic).map(({ message }) => JSON.stringify(message));
    assert.deepEqual(
      synthetic.map((text) => /FX BODY \w+/.exec(text)?.[0]),
      ["FX BODY src", "FX BODY lib"],
    );
    const launched = frames.find(({ tool_use_result }) => tool_use_result !== undefined);
    assert.deepEqual(launched?.["tool_use_result"], { success: true, commandName: "audit" });
    assert.match(JSON.stringify(asked(1).messages), /Launching skill: audit/);
    assert.match(JSON.stringify(asked(3).messages), /FX NOTES/);
    // What a skill allows counts for whoever types it, not for a model that chose it.
    assert.equal(existsSync(join(cwd, "made.txt")), false);
  });

  it("that a model may not use is refused in words, as is one that does not exist", async () => {
    const calls = ["hidden", "nosuch", "compact", "", "audi"].map((name) => ({ name: "Skill", input: { skill: name } }));
    const { outrider, asked } = await place(
      { ...skill("hidden", "disable-model-invocation: true\n", "x"), ...skill("audit", "", "y") },
      [{ calls }, { text: "done" }],
    );
    await outrider(["-p", "go"]);
    const results = asked(1).messages[2]?.content.map((block) => JSON.stringify(block)) ?? [];
    const expected = [
      /Skill is not model-invocable: hidden/,
      /Unknown skill: nosuch\. The skills are: audit\./,
      /\/compact is a command for people and no skill/,
      /Invalid skill format/,
      /Unknown skill: audi\. Did you mean audit\?/,
    ];
    for (const [at, words] of expected.entries()) assert.match(results[at] ?? "", words);
  });

  it("is forbidden by a rule of its name, and not by one of another", async () => {
    const { outrider, asked } = await place({ ...skill("audit", "", "FX BODY"), ...skill("other", "", "FX OTHER") }, [
      {
        calls: [
          { name: "Skill", input: { skill: "audit" } },
          { name: "Skill", input: { skill: "other" } },
        ],
      },
      { text: "done" },
    ]);
    await outrider(["-p", "go", "--disallowedTools", "Skill(audit)"]);
    const sent = JSON.stringify(asked(1).messages);
    assert.match(sent, /Not permitted: .*Skill\(audit\)/);
    assert.match(sent, /FX OTHER/);
    assert.doesNotMatch(sent, /FX BODY/);
  });

  it("that people may not type says so", async () => {
    const { outrider, server } = await place(skill("inner", "user-invocable: false\n", "x"));
    const ended = await outrider(["-p", "/inner"]);
    assert.match(ended.stderr, /Skill is not user-invocable: inner/);
    assert.deepEqual([ended.code === 0, server.requests.length], [false, 0]);
  });

  it("with context: fork is the work of a subagent with no more tools than it names", async () => {
    const files = skill(
      "forky",
      "context: fork\nallowed-tools: Read, Bash(ls *)\nmodel: claude-haiku-4-5\n",
      "FX FORK $ARGUMENTS",
    );
    const { outrider, server, asked } = await place(files, [{ text: "fork answer" }]);
    const ended = await outrider(["-p", "/forky thing", ...stream]);
    const result = lines(ended.stdout).at(-1);
    assert.deepEqual([result?.["result"], result?.["num_turns"], server.requests.length], ["fork answer", 0, 1]);
    assert.match(textsOf(asked(0))[0] ?? "", /FX FORK thing.*at most 500 words\.$/s);
    assert.deepEqual([asked(0).tools.map(({ name }) => name), asked(0).model], [["Bash", "Read"], "claude-haiku-4-5"]);
  });

  it("is on record from before its first command to its end", async () => {
    const files = skill("audit", "", "FX !`grep -c skill.activated ../home/.outrider/sessions/*.jsonl`");
    const { outrider, cwd, asked } = await place(files);
    await outrider(["-p", "/audit", "--session-id", sessionId, "--dangerously-skip-permissions"]);
    assert.match(textsOf(asked(0))[1] ?? "", /FX 1$/m);
    const activations = journalOf(cwd).filter(({ type }) => type === "skill.activated");
    assert.deepEqual(
      activations.map(({ skillName, invocation, mode, status }) => [skillName, invocation, mode, status]),
      [
        ["audit", "user-slash", "inject", "started"],
        ["audit", "user-slash", "inject", "completed"],
      ],
    );
    assert.match(String((activations[0]?.["commands"] as string[] | undefined)?.[0]), /^grep /);
  });
});

describe("outrider skills", () => {
  const files: Files = {
    "project/.claude/skills/good/SKILL.md": "---\ndescription: FX good\n---\nFX line one\nFX line two\n",
    "project/.claude/skills/bad/SKILL.md":
      "---\ndescription: FX bad\ndescripton: x\nhooks: {}\nagent: x\ndisable-model-invocation: true\nuser-invocable: false\n---\n!`ls`\n",
    "home/.claude/commands/good.md": "FX other",
  };

  it("lists, shows and lints what a run would find", async () => {
    const { outrider } = await place(files);
    const listed = await outrider(["skills", "list", "--json"]);
    assert.deepEqual(
      lines(listed.stdout).map(({ name, scope, kind }) => [name, scope, kind]),
      [
        ["bad", "project", "skill"],
        ["good", "project", "skill"],
      ],
    );
    assert.match(listed.stderr, /commands\/good\.md was left out: there is another \/good/);
    assert.match((await outrider(["skills", "list"])).stdout, /^\/good +project +people\+model +FX good$/m);
    assert.match((await outrider(["skills", "show", "/good"])).stdout, /^description: FX good$.*^FX line one\nFX line two$/ms);
    const missing = await outrider(["skills", "show", "god"]);
    assert.match(missing.stderr, /There is no skill god; did you mean good\?/);
    const linted = await outrider(["skills", "lint"]);
    assert.equal(linted.code, 1);
    for (const problem of [
      /descripton means nothing here; did you mean description\?/,
      /neither people nor models may use it/,
      /agent counts only with context: fork/,
      /^note: .*do not count until the project is trusted/m,
      /there is another \/good/,
    ])
      assert.match(linted.stdout, problem);
  });

  it("lints a checkout that nobody has trusted without taking that for a mistake", async () => {
    const head = "description: d\nallowed-tools: Read\nbackground: true\nhooks: {}";
    const { outrider } = await place({ "project/.claude/skills/good/SKILL.md": `---\n${head}\n---\nText\n` });
    const { code, stdout } = await outrider(["skills", "lint", "--json"]);
    assert.deepEqual([code, lines(stdout).map(({ level }) => level)], [0, ["note", "note"]]);
  });
});

describe("skills of folders beside the project", () => {
  it("count with --add-dir, and loosen nothing even where the project is trusted", async () => {
    const files = { "beside/.claude/skills/near/SKILL.md": "---\ndescription: near by\nallowed-tools: Bash\n---\nNEAR WORDS" };
    const { outrider, asked } = await place(files, [{ text: "1" }, { text: "2" }]);
    const ended = await outrider(["-p", "/near", "--add-dir", "../beside", "--trust-project", "--output-format", "stream-json"]);
    assert.match(JSON.stringify(asked(0).messages), /NEAR WORDS/);
    assert.match(JSON.stringify(asked(0).system), /near by/);
    assert.match(ended.stdout + ended.stderr, /allowed-tools of \/near/);
    assert.match((await outrider(["-p", "/near"])).stderr, /near/);
  });
});

describe("a skill that a rule keeps from the model", () => {
  it("is not told to it", async () => {
    const { outrider, server } = await place({
      "project/.claude/skills/secret/SKILL.md": "---\ndescription: d\n---\nHIDDEN WORDS",
    });
    const ended = await outrider(["-p", "/secret", "--disallowedTools", "Read(./.claude/skills/secret/**)"]);
    assert.match(ended.stderr, /A rule forbids to read the skill secret/);
    assert.doesNotMatch(JSON.stringify(server.requests), /HIDDEN WORDS/);
  });
});
