import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import {
  type AgentEvent,
  createScriptedProvider,
  InteractiveSession,
  type InteractiveSessionOptions,
  type Outcome,
} from "../packages/runtime/src/exports/index.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-weak-")));
after(() => rmSync(top, { recursive: true, force: true }));

type Call = { name: string; input: Record<string, unknown> };
type Reply = { calls: Call[] } | { text: string };

type Behaviour = {
  readonly does: string;
  readonly replies: readonly Reply[];
  readonly options?: Partial<InteractiveSessionOptions>;
  /** What the agent must make of it. */
  readonly check: (seen: Seen) => void;
};

type Seen = {
  readonly outcome: Outcome;
  /** What the model was told of each call, in order. */
  readonly told: readonly string[];
  readonly events: readonly AgentEvent[];
  readonly file: () => string;
};

const call = (name: string, input: Record<string, unknown>): Reply => ({ calls: [{ name, input }] });
const done: Reply = { text: "Done." };
const completed = ({ outcome }: Seen): void => assert.equal(outcome.type, "completed");

const behaviours: readonly Behaviour[] = [
  {
    does: "sends numbers, switches and lists as text",
    replies: [
      call("Read", { file_path: "a.txt", offset: "2", limit: "1" }),
      call("Edit", { file_path: "a.txt", old_string: "one", new_string: "1", replace_all: "true" }),
      call("TodoWrite", { todos: JSON.stringify([{ content: "x", status: "pending", activeForm: "x" }]) }),
      done,
    ],
    options: { permissionMode: "acceptEdits" },
    check: (seen) => {
      completed(seen);
      assert.match(seen.told[0] ?? "", /two[\s\S]*\[Input: /);
      assert.match(seen.file(), /^1\n/);
      assert.doesNotMatch(seen.told[2] ?? "", /Invalid input/);
    },
  },
  {
    does: "writes over a file that has changed since it was read",
    replies: [
      call("Read", { file_path: "a.txt" }),
      call("Bash", { command: "echo four >> a.txt" }),
      call("Write", { file_path: "a.txt", content: "mine\n" }),
      done,
    ],
    options: { allowedTools: ["Bash", "Write"] },
    check: (seen) => {
      assert.equal(seen.file(), "one\ntwo\nthree\nfour\n");
      assert.match(seen.told[2] ?? "", /read/i);
    },
  },
  {
    does: "changes a file that it has never read, from memory",
    replies: [call("Edit", { file_path: "a.txt", old_string: "seven", new_string: "8" }), done],
    options: { permissionMode: "acceptEdits" },
    check: (seen) => {
      completed(seen);
      assert.equal(seen.file(), "one\ntwo\nthree\n");
      assert.ok((seen.told[0] ?? "").length > 0);
    },
  },
  {
    does: "goes round in circles",
    replies: Array.from({ length: 20 }, () => call("Read", { file_path: "nothing.txt" })),
    check: ({ outcome, told }) => {
      assert.equal(outcome.type === "stopped" && outcome.limit, "loop");
      assert.ok(told.length < 8, `${told.length} calls`);
    },
  },
  {
    does: "reads files that it made up",
    replies: [call("Read", { file_path: "source/helper.ts" }), call("Read", { file_path: "src/helpers.ts" }), done],
    check: (seen) => {
      completed(seen);
      assert.match(seen.told[0] ?? "", /does not exist.*(?:Did you mean src\/helper\.ts|Use Glob to find the file)/);
      assert.match(seen.told[1] ?? "", /does not exist.*src\/helper\.ts/);
    },
  },
  {
    does: "calls tools that it made up",
    replies: [call("exec_command", { cmd: "ls" }), done],
    check: (seen) => {
      completed(seen);
      assert.match(seen.told[0] ?? "", /There is no tool named exec_command\. The tools are: .*Bash/);
    },
  },
  {
    does: "asks for an output that would fill the window",
    replies: [call("Bash", { command: "seq 1 300000" }), done],
    options: { allowedTools: ["Bash"] },
    check: (seen) => {
      completed(seen);
      const [told = ""] = seen.told;
      assert.ok(told.length < 40_000, `${told.length} characters`);
      assert.match(told, /\b300000\b/);
      const ended = seen.events.find((event) => event.type === "tool.ended");
      const whole = ended?.type === "tool.ended" ? ended.details?.fullOutputPath : undefined;
      assert.ok(whole !== undefined && told.includes(whole));
    },
  },
  {
    does: "says that it is done although its change was refused",
    replies: [call("Write", { file_path: "a.txt", content: "mine" }), { text: "Fixed it." }],
    check: (seen) => {
      assert.equal(seen.file(), "one\ntwo\nthree\n");
      const denials = seen.events.filter((event) => event.type === "permission.decided" && event.effect === "deny");
      assert.equal(denials.length, 1);
      assert.match(seen.told[0] ?? "", /Not permitted/);
    },
  },
];

describe("a weak model that", () => {
  for (const [index, { does, replies, options, check }] of behaviours.entries())
    it(does, async () => {
      const cwd = join(top, String(index));
      mkdirSync(join(cwd, "src"), { recursive: true });
      writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\n");
      writeFileSync(join(cwd, "src/helper.ts"), "export {};\n");
      const provider = createScriptedProvider([...replies]);
      const session = new InteractiveSession({ cwd, provider, bare: true, ...options });
      const events: AgentEvent[] = [];
      const reading = (async () => {
        for await (const event of session.events()) events.push(event);
      })();
      const outcome = await session.submit("go");
      await session.shutdown();
      await reading;
      const told = events.flatMap((event) =>
        event.type === "tool.ended"
          ? [event.result.content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n")]
          : [],
      );
      check({ outcome, told, events, file: () => readFileSync(join(cwd, "a.txt"), "utf8") });
    });
});
