import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { textOf } from "../protocol/content.ts";
import { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-exports-")));
const cwd = join(top, "project");
mkdirSync(join(cwd, "sub"), { recursive: true });
mkdirSync(join(cwd, "bin"));
after(() => rmSync(top, { recursive: true, force: true }));

type Hooks = NonNullable<SessionOptions["hooks"]>;

const hook = (command: string): NonNullable<Hooks["SessionStart"]> => [{ hooks: [{ type: "command", command }] }];

/** What commands printed, one a turn, and what a person was warned of. */
async function run(hooks: Hooks, commands: readonly string[], options: Partial<SessionOptions> = {}) {
  const calls = commands.map((command) => ({ calls: [{ name: "Bash", input: { command } }] }));
  const provider = createScriptedProvider([...calls, { text: "ok" }]);
  const warnings: string[] = [];
  const session = new InteractiveSession({
    ...{ cwd, provider, permissionMode: "bypassPermissions", overflowDirectory: join(top, "overflow"), hooks },
    env: { PATH: process.env["PATH"] ?? "", HOME: top },
    ...options,
  });
  const events = session.events();
  await session.submit("go");
  await session.shutdown();
  for await (const event of events) if (event.type === "warning.raised") warnings.push(event.message);
  const results = provider.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.content : [])) ?? [];
  return { said: results.map((part) => textOf(part.content)), warnings };
}

describe("variables that hooks set for commands", () => {
  it("hold for every later command, however bash is told of them", async () => {
    const write = `printf '%s\\n' 'export A="one two"' "declare -x B=\\$'x\\ny'" 'C=$A-more' 'export PATH="$PATH:./bin"' >> "$CLAUDE_ENV_FILE"`;
    const { said, warnings } = await run({ SessionStart: hook(write) }, ['echo "$A|$B|$C"', 'echo "$PATH" | sed "s/.*://"']);
    assert.deepEqual({ said, warnings }, { said: ["one two|x\ny|one two-more", join(cwd, "bin")], warnings: [] });
  });

  it("are none that bash, the sandbox or our own parts go by", async () => {
    const names = [
      "BASH_ENV",
      "IFS",
      "LD_PRELOAD",
      "GIT_SSH_COMMAND",
      "HOME",
      "https_proxy",
      "OUTRIDER_HOME",
      "ANTHROPIC_API_KEY",
    ];
    const write = `for n in ${names.join(" ")} FINE; do echo "export $n=/x" >> "$CLAUDE_ENV_FILE"; done`;
    const { said, warnings } = await run({ SessionStart: hook(write) }, ['echo "$FINE $HOME"; env | grep -c =/x$']);
    assert.deepEqual(said, [`/x ${top}\n1`]);
    assert.equal(warnings.length, 1);
    for (const name of names.filter((one) => one !== "IFS")) assert.match(warnings.join(), new RegExp(`\\b${name}\\b`));
  });

  it("belong to the working directory where its hooks set them", async () => {
    const leave = `grep -q '"new_cwd":"[^"]*sub"' && echo "export ONLY_SUB=1" >> "$CLAUDE_ENV_FILE"; true`;
    const { said } = await run({ SessionStart: hook('echo "export ALWAYS=1" > "$CLAUDE_ENV_FILE"'), CwdChanged: hook(leave) }, [
      "cd sub",
      'echo "$ALWAYS$ONLY_SUB"',
      "cd ..",
      'echo "$ALWAYS$ONLY_SUB"',
    ]);
    assert.deepEqual([said[1], said[3]], ["11", "1"]);
  });

  it("are kept from programs nobody has said anything about, where they look like secrets", async () => {
    const write = `echo 'export DEPLOY_TOKEN=abcdef0123456789' > "$CLAUDE_ENV_FILE"`;
    const { said } = await run({ SessionStart: hook(write) }, ['echo "[$DEPLOY_TOKEN]"'], { untrusted: true });
    assert.deepEqual(said, ["[]"]);
  });

  it("make no program of the project's one of the user's: what PATH finds there is judged as the project's", async () => {
    writeFileSync(join(cwd, "bin/ls"), "#!/bin/sh\necho mine\n");
    chmodSync(join(cwd, "bin/ls"), 0o755);
    const write = `echo 'export PATH="${cwd}/bin:$PATH"' > "$CLAUDE_ENV_FILE"`;
    const { said } = await run({ SessionStart: hook(write) }, ["ls"], { permissionMode: "default" });
    assert.match(said[0] ?? "", /permission|allow/i);
    assert.doesNotMatch(said[0] ?? "", /^mine/);
  });

  it("are told of when a file of theirs cannot be run to its end, and leave the rest as it was", async () => {
    const { said, warnings } = await run({ SessionStart: hook('echo "exit 3" > "$CLAUDE_ENV_FILE"') }, ["echo fine"]);
    assert.deepEqual(said, ["fine"]);
    assert.match(warnings.join(), /CLAUDE_ENV_FILE not all counts: bash could not run it to its end/);
  });
});
