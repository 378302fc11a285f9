import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../../model/scripted.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import { detectSandbox } from "../../workspace/detect-sandbox.ts";
import type { CommandPlaces } from "../../workspace/open-workspace.ts";
import type { SandboxOptions } from "../../workspace/sandbox.ts";
import { describePlaces } from "./command-places.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-places-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const found = await detectSandbox();
const needsBox = found.available ? {} : { skip: found.reason };

const env = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  TMPDIR: "/var/tmp",
  GH_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345",
};

/** What a call of Bash answers in a session of the library. */
async function answerOf(options: Partial<SessionOptions>, answer?: "allow"): Promise<string> {
  // Outside, the session has a folder of its own in the place for temporary files.
  const above = "$" + "{TMPDIR%/outrider-tmp-*}";
  const command = `echo "place:${above}:$GH_TOKEN"; node -p 1 > /dev/null`;
  const provider = createScriptedProvider([{ calls: [{ name: "Bash", input: { command } }] }, { text: "ok" }]);
  const session = new InteractiveSession({ cwd: folder, provider, env, ...options, answersPermissions: answer !== undefined });
  let result = "";
  const reading = (async () => {
    for await (const event of session.events()) {
      if (event.type === "permission.requested") session.answerPermission(event.requestId, answer ?? "deny");
      if (event.type === "tool.ended") result = event.result.content.map((part) => ("text" in part ? part.text : "")).join("");
    }
  })();
  await session.submit("go");
  await session.shutdown();
  await reading;
  return result;
}

describe("what a model is told of where commands run", () => {
  const places = { sandbox: "bubblewrap", boxed: "unasked", network: "none", withheld: () => [] } as const;
  const told = (more: Partial<CommandPlaces>, mode: PermissionMode): string | undefined =>
    describePlaces({ ...places, ...more } as CommandPlaces, mode);
  const box = "in a sandbox: the project is writable, home is empty, /tmp is its own,";
  const some = "A command that a rule or a person allows runs as the user; any other runs";

  it("says nothing where nothing is boxed", () => {
    assert.equal(told({ sandbox: "none" }, "default"), undefined);
    assert.equal(told({}, "bypassPermissions"), undefined);
    assert.equal(told({ boxed: "everything" }, "bypassPermissions"), `Every command runs ${box} no network.`);
  });

  it("says what is boxed, what can be reached from there, what is missing, and the way out", () => {
    assert.equal(told({}, "default"), `${some} ${box} no network.`);
    assert.equal(told({ network: "domains" }, "default"), `${some} ${box} network for listed domains only.`);
    const way = " dangerouslyDisableSandbox asks for permission to run one outside.";
    const missing = { network: "open", withheld: () => ["A", "B"] } as const;
    assert.equal(told(missing, "sandboxed"), `${some} ${box} the machine's network, and without these variables: A, B.${way}`);
    assert.equal(told({ boxed: "everything" }, "sandboxed"), `Every command runs ${box} no network.`);
  });
});

describe("a session of the library", needsBox, () => {
  const auto: SandboxOptions = { mode: "auto" };
  const outside = "place:/var/tmp:[redacted:github-token]";
  const cases: [name: string, options: Partial<SessionOptions>, expected: string | RegExp, answer?: "allow"][] = [
    ["runs in the box what the mode sandboxed contains", { permissionMode: "sandboxed", sandbox: auto }, "place:/tmp:"],
    ["has the box that the mode promises without being told", { permissionMode: "sandboxed" }, "place:/tmp:"],
    ["runs outside what a rule names", { allowedTools: ["Bash"], sandbox: auto }, outside],
    ["runs outside what somebody says yes to", { sandbox: auto }, outside, "allow"],
    ["runs outside what bypassing lets run", { permissionMode: "bypassPermissions", sandbox: auto }, outside],
    ["boxes everything where that is required", { allowedTools: ["Bash"], sandbox: { mode: "require" } }, "place:/tmp:"],
    ["boxes nothing when it is not told to", { allowedTools: ["Bash"] }, outside],
    [
      "gives no secrets to what belongs to a project that is not trusted",
      { allowedTools: ["Bash"], untrusted: true },
      "place:/var/tmp:",
    ],
    [
      "passes on what is to be passed on",
      { permissionMode: "sandboxed", passEnv: ["GH_TOKEN"] },
      "place:/tmp:[redacted:github-token]",
    ],
  ];
  for (const [name, options, expected, answer] of cases)
    it(name, async () => assert.equal(await answerOf(options, answer), expected));

  it("tells a subagent that runs commands where they run", async () => {
    const task = { name: "Task", input: { description: "look", prompt: "look", subagent_type: "general-purpose" } };
    const provider = createScriptedProvider([{ calls: [task] }, { text: "seen" }, { text: "ok" }]);
    const session = new InteractiveSession({ cwd: folder, provider, env, sandbox: auto, builtinAgents: true });
    let system = "";
    const reading = (async () => {
      for await (const event of session.events()) if (event.type === "task.started") system = event.system;
    })();
    await session.submit("go");
    await session.shutdown();
    await reading;
    assert.match(system, /^Sandbox: A command that a rule or a person allows .* without these variables: GH_TOKEN\.$/m);
  });

  it("does not begin in mode sandboxed with the sandbox turned off, and cannot change to it without one", async () => {
    const provider = createScriptedProvider([{ text: "ok" }]);
    const open = (permissionMode: PermissionMode, sandbox: SandboxOptions): InteractiveSession =>
      new InteractiveSession({ cwd: folder, provider, env, permissionMode, sandbox });
    const refused = open("sandboxed", { mode: "off" });
    const outcome = await refused.submit("go");
    assert.equal(outcome.type === "failed" && outcome.error.code, "config");
    const plain = open("default", { mode: "off" });
    const controls = await plain.controls();
    assert.throws(() => controls.setPermissionMode("sandboxed"), /needs a sandbox, and this session has none/);
    await plain.shutdown();
    await refused.shutdown();
  });
});
