import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { findSkills, skillFolders } from "../../commands/skills/find-skills.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toToolUseResult } from "../../tools/tool-use-result.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";
import type { SkillOptions } from "./session-skills.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-used-skills-")));
after(() => rmSync(top, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;
type Given = { readonly replies?: readonly ScriptStep[]; readonly skills?: Partial<SkillOptions> } & Partial<
  Omit<SessionOptions, "skills">
>;

/** A session in a project, with the skills that a home and the project have in files. */
async function open(files: Files, { replies = [{ text: "done" }], skills: more, ...options }: Given = {}) {
  const place = mkdtempSync(join(top, "place-"));
  const cwd = join(place, "project");
  mkdirSync(cwd);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  const places = {
    outriderHome: join(place, "home/.outrider"),
    userHome: join(place, "home"),
    scopes: ["user", "project"],
  } as const;
  const findAt = async (folder: string, root: string) => await findSkills(skillFolders({ ...places, cwd: folder, root }), root);
  const { skills: found } = await findAt(cwd, cwd);
  const provider = createScriptedProvider(replies);
  const store = createMemoryStore();
  const session = new InteractiveSession({
    ...{ cwd, provider, sessionStore: store },
    skills: {
      found,
      trusted: async () => false,
      below: (folder) => findSkills(skillFolders({ ...places, cwd: folder, root: folder, scopes: ["project"] }), cwd),
      reload: () => findAt(cwd, cwd),
      ...more,
    },
    ...options,
  });
  /** All texts of one request, without those that were in the one before. */
  const sent = (at = 0): string[] => {
    const texts = (index: number): string[] =>
      (provider.requests[index]?.messages ?? []).flatMap(({ content }) =>
        content.flatMap((part) => {
          if (part.type === "text") return [part.text];
          if (part.type !== "tool-result") return [];
          return part.content.flatMap((one) => (one.type === "text" ? [one.text] : []));
        }),
      );
    return texts(at).slice(at === 0 ? 0 : texts(at - 1).length);
  };
  const told = async (): Promise<string[]> => {
    await session.shutdown();
    const events = (await store.read(session.id)) as AgentEvent[];
    return events.flatMap((event) => {
      if (event.type === "warning.raised") return [event.message.replaceAll(place, "PLACE")];
      if (event.type !== "skill.activated") return [];
      const { skillName, source, invocation, mode, status, error } = event;
      assert.equal(source, "skill");
      return [[skillName, invocation, mode, status, ...(error === undefined ? [] : [error])].join(" ")];
    });
  };
  return { place, cwd, session, store, provider, sent, told };
}

const head = (fields: string): string => `---\ndescription: d\n${fields}---\n`;
const calls = (...inputs: readonly (string | { readonly skill: string; readonly args?: string })[]): ScriptStep[] => [
  ...inputs.map((input) => ({
    calls: [{ name: "Skill", input: typeof input === "string" ? { skill: input } : input }],
  })),
  { text: "done" },
];

describe("a skill that the model uses", () => {
  const files = {
    "home/.claude/skills/tidy/SKILL.md": `${head("")}Tidy $ARGUMENTS well.`,
    "home/.claude/skills/quiet/SKILL.md": `${head("disable-model-invocation: true\n")}Quiet.`,
    "home/.claude/commands/plain.md": `${head("")}Plain words.`,
  };

  it("follows the result of its call, and is told to be there already the second time", async () => {
    const { session, sent, told, place } = await open(files, {
      replies: calls({ skill: " /tidy ", args: "up" }, { skill: "tidy", args: "up" }, "plain", "plain"),
    });
    await session.submit("go");
    assert.deepEqual(sent(1), [
      "Launching skill: tidy",
      `Base directory for this skill: ${place}/home/.claude/skills/tidy\n\nTidy up well.`,
    ]);
    assert.deepEqual(sent(2), ["Skill /tidy is already loaded above; instructions unchanged. Arguments: up"]);
    assert.deepEqual(sent(3), ["Launching skill: plain", "Plain words."]);
    assert.deepEqual(sent(4), ["Skill /plain is already loaded above; instructions unchanged."]);
    const use = (name: string): string[] => ["started", "completed"].map((status) => `${name} model-tool inject ${status}`);
    assert.deepEqual(await told(), [...use("tidy"), ...use("tidy"), ...use("plain"), ...use("plain")]);
  });

  it("is refused with what would work: one that is for people, a command, a name that is nearly right, one that is far off", async () => {
    const { session, sent } = await open(files, { replies: calls("quiet", "compact", "tidi", "zzzzzzzzzz", "/") });
    await session.submit("go");
    await session.shutdown();
    assert.deepEqual([1, 2, 3, 4, 5].flatMap(sent), [
      "Skill is not model-invocable: quiet",
      "/compact is a command for people and no skill: ask the user to type it.",
      "Unknown skill: tidi. Did you mean tidy?",
      "Unknown skill: zzzzzzzzzz. The skills are: tidy, plain.",
      "Invalid skill format: the name is empty",
    ]);
  });

  it("is named by what people would type under the tool's other name, and without a name they are listed", async () => {
    const typed = (args: string): ScriptStep => ({ calls: [{ name: "outrider_command_skills", input: { args } }] });
    const { session, sent } = await open(files, { replies: [typed(" /plain  more"), typed(" "), { text: "done" }] });
    await session.submit("go");
    await session.shutdown();
    assert.deepEqual([sent(1), sent(2)], [["Launching skill: plain", "Plain words.\n\nARGUMENTS: more"], ["tidy: d\nplain: d"]]);
  });

  it("is judged by every name that a rule may know it by", async () => {
    const labelled = { "home/.claude/skills/tidy/SKILL.md": "---\nname: cleaner\ndescription: d\n---\nTidy." };
    for (const rule of ["Skill(tidy)", "Skill(cleaner)"]) {
      const { session, sent } = await open(labelled, {
        replies: calls("tidy"),
        permissions: { deny: [{ text: rule, source: "settings" }] },
      });
      await session.submit("go");
      await session.shutdown();
      assert.doesNotMatch(sent(1).join("\n"), /Launching/, rule);
    }
  });

  it("is one of those that the session may use", async () => {
    const { session, sent, provider } = await open(files, { replies: calls("tidy", "plain"), skills: { only: ["plain"] } });
    await session.submit("go");
    await session.shutdown();
    assert.equal(sent(1)[0], "Skill is not model-invocable: tidy");
    assert.equal(sent(2)[0], "Launching skill: plain");
    assert.doesNotMatch(provider.requests[0]?.system ?? "", /- tidy: /);
  });

  it("may be the work of a subagent, whose answer is the result", async () => {
    const { session, sent, told, provider } = await open(
      { "home/.claude/skills/dig/SKILL.md": `${head("context: fork\nallowed-tools: Read\n")}Dig for $ARGUMENTS.` },
      { replies: [...calls({ skill: "dig", args: "gold" }).slice(0, 1), { text: "found gold" }, { text: "done" }] },
    );
    assert.equal((await session.submit("go")).text, "done");
    const [, digging, last] = provider.requests;
    assert.match(JSON.stringify(digging?.messages), /Dig for gold\.\\n\\nDo exactly this and nothing beside it/);
    assert.deepEqual(
      digging?.tools.map(({ name }) => name),
      ["Read"],
    );
    assert.match(JSON.stringify(last?.messages.at(-1)), /"text":"found gold"/);
    assert.equal(sent(0)[0], "go");
    assert.deepEqual(await told(), ["dig model-tool fork started", "dig model-tool fork completed"]);
  });

  it("is a subagent of its call, which programs are told", async () => {
    const { session, store } = await open(
      { "home/.claude/skills/dig/SKILL.md": `${head("context: fork\n")}Dig.` },
      { replies: [...calls("dig").slice(0, 1), { text: "found gold" }, { text: "done" }] },
    );
    await session.submit("go");
    await session.shutdown();
    const events = (await store.read(session.id)) as AgentEvent[];
    const started = events.find((event) => event.type === "task.started");
    const ended = events.find((event) => event.type === "tool.ended");
    assert.ok(started?.type === "task.started" && ended?.type === "tool.ended");
    assert.equal(started.callId, ended.callId);
    assert.deepEqual(toToolUseResult(ended, { input: {}, cwd: "/" }), {
      ...{ success: true, commandName: "dig", status: "forked" },
      ...{ agentId: started.taskId, result: "found gold" },
    });
  });
});

describe("what a skill forbids", () => {
  const touch = (name: string): ScriptStep => ({ calls: [{ name: "Bash", input: { command: `touch ${name}` } }] });
  const files = {
    "home/.claude/skills/mine/SKILL.md": `${head("disallowed-tools: Bash(touch:*)\n")}Mine.`,
    "project/.claude/skills/theirs/SKILL.md": `${head("disallowed-tools: [Bash]\nallowed-tools: Write\n")}Theirs.`,
  };
  const permissions = { allow: [{ text: "Bash", source: "test" }] };

  for (const name of ["mine", "theirs"])
    it(`is forbidden to the end of its turn, whoever used it and wherever it is from: ${name}`, async () => {
      const { session, cwd } = await open(files, {
        permissions,
        replies: [
          touch("a"),
          { text: "1" },
          touch("b"),
          { text: "2" },
          ...calls(name).slice(0, 1),
          touch("c"),
          { text: "3" },
        ].concat([touch("d"), { text: "4" }]),
      });
      for (const prompt of [`/${name}`, "go on", "use it", "go on"]) await session.submit(prompt);
      await session.shutdown();
      assert.deepEqual(
        ["a", "b", "c", "d"].filter((file) => existsSync(join(cwd, file))),
        ["b", "d"],
      );
    });
});

describe("a skill that somebody types", () => {
  it("joins the conversation behind marks that say what was typed", async () => {
    const { session, sent, told, place } = await open({
      "home/.claude/skills/tidy/SKILL.md": `${head("arguments: [what]\n")}Tidy $what.`,
    });
    await session.submit("/tidy up");
    assert.deepEqual(sent(0), [
      "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>\n<command-args>up</command-args>\n",
      `Base directory for this skill: ${place}/home/.claude/skills/tidy\n\nTidy up.`,
    ]);
    assert.deepEqual(await told(), ["tidy user-slash inject started", "tidy user-slash inject completed"]);
  });

  it("is not used where only models may, and no model is asked", async () => {
    const { session, provider } = await open({
      "home/.claude/skills/inner/SKILL.md": `${head("user-invocable: false\n")}Inner.`,
    });
    const outcome = await session.submit("/inner");
    await session.shutdown();
    assert.equal(outcome.type === "failed" && outcome.error.message, "Skill is not user-invocable: inner");
    assert.equal(provider.requests.length, 0);
  });

  const running = "!`touch made.txt; echo ran` and @notes.txt, @secret.txt, $" + "{CLAUDE_EFFORT}";
  const text = `${head("allowed-tools: Bash(touch *)\nmodel: other-1\neffort: high\n")}Say ${running}`;
  const notes = { "project/notes.txt": "a note\n", "project/secret.txt": "hidden\n" };
  const permissions = { deny: [{ text: "Read(./secret.txt)", source: "settings" }] };

  it("runs its commands, reads its files and chooses its model where it is the user's", async () => {
    const { session, sent, told, cwd, provider } = await open({ ...notes, "home/.claude/commands/go.md": text }, { permissions });
    await session.submit("/go");
    const [, file, body] = sent(0);
    assert.match(file ?? "", /^<file path="notes\.txt">[\s\S]*a note/);
    assert.equal(body, "Say ran and @notes.txt, @secret.txt, high");
    assert.ok(existsSync(join(cwd, "made.txt")));
    assert.deepEqual([provider.requests[0]?.model, provider.requests[0]?.effort], ["other-1", "high"]);
    const [started, warned, ended, ...rest] = (await told()).filter((one) => !one.includes("other-1"));
    assert.deepEqual([started, ended, rest], ["go user-slash inject started", "go user-slash inject completed", []]);
    assert.match(warned ?? "", /^@secret\.txt was not read: /);
  });

  it("runs and chooses nothing where it is a project's that is not trusted, and says so", async () => {
    const files = { ...notes, "project/.claude/commands/go.md": text };
    const stranger = await open(files, { permissions });
    await stranger.session.submit("/go");
    assert.equal(stranger.sent(0).at(-1), "Say [not run: the project is not trusted] and @notes.txt, @secret.txt, medium");
    assert.deepEqual([existsSync(join(stranger.cwd, "made.txt")), stranger.provider.requests[0]?.effort], [false, undefined]);
    assert.match((await stranger.told()).join("\n"), /go\.md: touch made\.txt; echo ran was not run: the project is not trusted/);
    const trusted = await open(files, { permissions, skills: { trusted: async () => true } });
    await trusted.session.submit("/go");
    await trusted.session.shutdown();
    assert.equal(trusted.sent(0).at(-1), "Say ran and @notes.txt, @secret.txt, high");
  });

  it("runs no command where the session runs none, or has no tool that could", async () => {
    const files = { ...notes, "home/.claude/commands/go.md": text };
    for (const [given, said] of [
      [{ skills: { withoutCommands: true } }, "[shell command execution disabled by policy]"],
      [{ builtinTools: ["Read"] }, "[not run: no tool that runs commands is offered here]"],
    ] as const) {
      const { session, sent, cwd } = await open(files, given);
      await session.submit("/go");
      await session.shutdown();
      assert.equal(sent(0).at(-1), `Say ${said} and @notes.txt, @secret.txt, high`);
      assert.equal(existsSync(join(cwd, "made.txt")), false);
    }
  });

  it("is not used when a command of it may not run, and says which rule would let it", async () => {
    const { session, provider, told } = await open({ "home/.claude/commands/go.md": "Say !`touch made.txt`" });
    const outcome = await session.submit("/go");
    assert.equal(provider.requests.length, 0);
    assert.match(
      outcome.type === "failed" ? `${outcome.error.message} ${outcome.error.hint}` : "",
      /^\/go was not used, because a command of it may not run: touch made\.txt .*A rule that allows the command lets it run/,
    );
    const [started, failed] = await told();
    assert.equal(started, "go user-slash inject started");
    assert.match(failed ?? "", /^go user-slash inject failed \/go was not used/);
  });

  it("that the model uses runs its commands by the session's rules alone", async () => {
    const { session, sent, cwd } = await open(
      { "home/.claude/commands/go.md": `${head("allowed-tools: Bash(touch *)\n")}Say !\`touch made.txt\`` },
      { replies: calls("go") },
    );
    await session.submit("go");
    await session.shutdown();
    assert.match(sent(1)[0] ?? "", /a command of it may not run: touch made\.txt/);
    assert.equal(existsSync(join(cwd, "made.txt")), false);
  });

  it("is not told where a rule keeps its file from the model", async () => {
    const { session, provider } = await open(
      { "project/.claude/commands/go.md": "Say hidden words" },
      { permissions: { deny: [{ text: "Read(./.claude/**)", source: "settings" }] } },
    );
    const outcome = await session.submit("/go");
    await session.shutdown();
    assert.match(outcome.type === "failed" ? outcome.error.message : "", /^A rule forbids to read the skill go /);
    assert.equal(provider.requests.length, 0);
  });

  it("names fifty commands and files at most", async () => {
    const names = (count: number): string => Array.from({ length: count }, (_, at) => `@f${at}.txt`).join(" ");
    for (const [count, type] of [
      [50, "completed"],
      [51, "failed"],
    ] as const) {
      const { session } = await open({ "home/.claude/commands/go.md": names(count) });
      assert.equal((await session.submit("/go")).type, type, String(count));
      await session.shutdown();
    }
  });

  it("may be an agent's work, and fails where there is no such agent", async () => {
    const forks = (more: string): string => `${head(`context: fork\n${more}`)}Look.`;
    const { session, provider, told } = await open(
      { "home/.claude/commands/look.md": forks(""), "home/.claude/commands/lost.md": forks("agent: nobody\n") },
      { replies: [{ text: "seen" }] },
    );
    assert.deepEqual(await session.submit("/look"), { type: "completed", text: "seen" });
    const lost = await session.submit("/lost");
    assert.match(lost.type === "failed" ? lost.error.message : "", /names the agent nobody, and there are only general-purpose/);
    assert.equal(provider.requests.length, 1);
    const facts = await told();
    assert.deepEqual(facts.slice(0, 3), [
      "look user-slash fork started",
      "look user-slash fork completed",
      "lost user-slash fork started",
    ]);
    assert.match(facts[3] ?? "", /^lost user-slash fork failed .*names the agent nobody/);
  });
});

describe("a skill that a program uses by its name", () => {
  const files = {
    "home/.claude/skills/tidy/SKILL.md": `${head("")}Tidy $ARGUMENTS well.`,
    "home/.claude/skills/quiet/SKILL.md": `${head("disable-model-invocation: true\n")}Quiet.`,
    "home/.claude/skills/inner/SKILL.md": `${head("user-invocable: false\n")}Inner.`,
  };

  it("is its text for a model, and a prompt of its own for a person", async () => {
    const { session, provider } = await open(files);
    const model = await session.executeSkillCommandByName("tidy", "up", { invocationSource: "model" });
    const prompt = "Tidy up well.";
    assert.deepEqual(model, { success: true, message: prompt, data: { skillName: "tidy", prompt } });
    assert.equal(provider.requests.length, 0);
    const ended = (async () => {
      for await (const event of session.events()) if (event.type === "turn.ended") return event.outcome;
      return undefined;
    })();
    const person = await session.executeSkillCommandByName("tidy", "up", { invocationSource: "user" });
    assert.deepEqual([person.success, person.message], [true, "/tidy is at work"]);
    assert.deepEqual(await ended, { type: "completed", text: "done" });
    assert.match(JSON.stringify(provider.requests[0]?.messages), /Tidy up well\./);
    await session.shutdown();
  });

  it("is refused to whom it is not for, and a name that nobody has is told", async () => {
    const { session } = await open(files);
    for (const [name, invocationSource, message] of [
      ["quiet", "model", "Skill is not model-invocable: quiet"],
      ["inner", "user", "Skill is not user-invocable: inner"],
      ["tidi", "user", "Unknown skill: tidi. Did you mean tidy?"],
      ["zzzzzzzzzz", "user", "Unknown skill: zzzzzzzzzz."],
    ] as const) {
      const result = await session.executeSkillCommandByName(name, "", { invocationSource });
      assert.deepEqual(result, { success: false, message });
    }
    await session.shutdown();
  });
});

describe("hooks of a skill", () => {
  const hooks =
    'hooks:\n  PreToolUse:\n    - matcher: Read\n      hooks:\n        - type: command\n          command: touch "$CLAUDE_SKILL_DIR/hooked"\n';
  const files = { "home/.claude/skills/watch/SKILL.md": `${head(hooks)}Watch.`, "project/a.txt": "a\n" };
  const read: ScriptStep = { calls: [{ name: "Read", input: { file_path: "a.txt" } }] };

  it("come with its first use and stay", async () => {
    const { session, place } = await open(files, {
      replies: [read, { text: "before" }, read, { text: "after" }],
      hookSettings: { sources: [] },
    });
    const isThere = (): boolean => existsSync(join(place, "home/.claude/skills/watch/hooked"));
    await session.submit("read");
    assert.equal(isThere(), false);
    await session.submit("/watch");
    await session.shutdown();
    assert.equal(isThere(), true);
  });
});

describe("skills for some files", () => {
  const files = {
    "home/.claude/skills/tidy/SKILL.md": `${head("")}Tidy.`,
    "home/.claude/skills/tables/SKILL.md": `${head('paths: "*.csv"\n')}Tables.`,
    "project/a.csv": "1,2\n",
    "project/b.txt": "b\n",
    "project/sub/.claude/skills/deep/SKILL.md": `${head("")}Deep.`,
    "project/sub/x.txt": "x\n",
  };
  const read = (path: string): ScriptStep => ({ calls: [{ name: "Read", input: { file_path: path } }] });

  it("count once such a file was touched: the model is told, and people may type them", async () => {
    const { session, sent, cwd } = await open(files, {
      replies: ["b.txt", "a.csv", "a.csv", "sub/x.txt"].map(read).concat([{ text: "done" }, { text: "again" }]),
    });
    const typed = (): string[] => session.listSkills().map(({ name }) => name);
    await session.open();
    assert.deepEqual(typed(), ["tidy"]);
    await session.submit("go");
    const heading = "These skills are for files such as this one.";
    assert.deepEqual(
      [1, 2, 3, 4].map((at) => sent(at).filter((text) => text.includes(heading)).length),
      [0, 1, 0, 1],
    );
    assert.match(sent(2).join("\n"), /tables/);
    assert.match(sent(4).join("\n"), /deep/);
    assert.deepEqual(typed(), ["deep", "tables", "tidy"]);
    await session.submit("/deep");
    await session.shutdown();
    assert.match(sent(5).join("\n"), new RegExp(`Base directory for this skill: ${cwd}/sub/\\.claude/skills/deep\\n\\nDeep\\.`));
  });

  it("can be used by their names also where there are no others", async () => {
    const { "home/.claude/skills/tidy/SKILL.md": _, ...others } = files;
    const { session, sent, provider } = await open(others, { replies: [read("a.csv"), ...calls("tables")] });
    await session.submit("go");
    await session.shutdown();
    assert.ok(provider.requests[0]?.tools.some(({ name }) => name === "Skill"));
    assert.doesNotMatch(provider.requests[0]?.system ?? "", /tables|## Skills/);
    assert.match(sent(1).join("\n"), /Use them with the tool Skill:\n- tables/);
    assert.match(sent(2).join("\n"), /Tables\./);
  });
});
