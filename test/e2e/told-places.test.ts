import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { detectSandbox } from "../../packages/runtime/src/workspace/detect-sandbox.ts";
import { eventually, lines, model, start, tempFolder } from "./command.ts";
import { call, type Options, placeOf, type Told, withoutBubblewrap, withoutNamespaces } from "./one-call.ts";

const found = await detectSandbox();
const needsBox = found.available ? {} : { skip: found.reason };

type Ground = {
  name: string;
  args: readonly string[];
  options?: Options;
  box: "unasked" | "everything" | "none";
  modes: string[];
};

const modes = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "sandboxed"];
const grounds: readonly Ground[] = [
  { name: "--sandbox auto", args: ["--sandbox", "auto"], box: "unasked", modes },
  { name: "--sandbox require", args: ["--sandbox", "require"], box: "everything", modes },
  { name: "--sandbox off", args: ["--sandbox", "off"], box: "none", modes },
  { name: "no user namespaces", args: [], options: { through: withoutNamespaces }, box: "none", modes },
  { name: "a bubblewrap that does not run", args: [], options: { through: withoutBubblewrap }, box: "none", modes: ["default"] },
];
/** Fails, so that its result says where it ran. */
/** Outside, the session has a folder of its own in the place for temporary files. */
const above = "$" + "{TMPDIR%/outrider-tmp-*}";
const command = `echo "place:${above}:|$GH_TOKEN|$SSH_AUTH_SOCK|"; false`;
/** For exactly this line: a general one would not cover what it shows of the environment. */
const rule = ["--allowedTools", `Bash(${command.replaceAll("*", "\\*")})`];

/** What everybody says about one call, as far as it can be right or wrong. */
function claims(told: Told): object {
  const { boxed, withheld } = (told.init["places"] ?? {}) as { boxed?: string; withheld?: string[] };
  return {
    sandbox: told.init["sandbox"],
    boxed,
    withheld: ["GH_TOKEN", "SSH_AUTH_SOCK"].filter((name) => withheld?.includes(name)),
    prompt: /Sandbox: (Every command|A command that a rule)/.exec(told.system)?.[1],
    result: told.result.includes("(It ran in the sandbox.)") ? "box" : "outside",
    warnings: JSON.stringify([told.run.stderr, told.last["warnings"]]).match(/without a sandbox/g)?.length ?? 0,
  };
}

describe("what is told about the place of a command is where it ran", { ...needsBox, concurrency: 3 }, () => {
  for (const { name, args, options = {}, box, modes } of grounds)
    for (const mode of modes)
      for (const isByRule of [false, true]) {
        // Plan mode asks no rule.
        const isByUser = (isByRule && mode !== "plan") || mode === "bypassPermissions";
        it(`${name}, mode ${mode}${isByRule ? ", by a rule" : ""}`, async () => {
          const flags = [...args, "--permission-mode", mode, ...(isByRule ? rule : []), "--pass-env", "SSH_AUTH_SOCK"];
          const told = await call(command, flags, options);
          if (box === "none" && mode === "sandboxed") {
            assert.equal(told.run.code, 78);
            return;
          }
          const boxed = mode === "bypassPermissions" && box === "unasked" ? "nothing" : box === "none" ? "nothing" : box;
          const isBoxed = boxed === "everything" || (boxed === "unasked" && !isByUser);
          assert.equal(placeOf(told), isBoxed ? "box" : "outside");
          const [, token, socket] = told.result.split("|");
          assert.deepEqual([token !== "", socket !== ""], [isByUser && !isBoxed, !isBoxed]);
          const isForAll = mode === "bypassPermissions" && boxed === "nothing";
          assert.deepEqual(claims(told), {
            sandbox: box === "none" ? "none" : "bubblewrap",
            boxed,
            withheld: isForAll ? [] : boxed === "nothing" ? ["GH_TOKEN"] : ["GH_TOKEN", "SSH_AUTH_SOCK"],
            prompt: { everything: "Every command", unasked: "A command that a rule", nothing: undefined }[boxed],
            result: isBoxed ? "box" : "outside",
            warnings: box === "none" && !isByUser && name !== "--sandbox off" ? 1 : 0,
          });
        });
      }

  it("says that bypassing gives no secrets to a project that is not trusted", async () => {
    const told = await call(command, ["--permission-mode", "bypassPermissions"], {
      settings: { permissions: { allow: ["Write"] } },
    });
    assert.match(told.result, /^place:\/var\/tmp:\|\|\|/);
    assert.deepEqual(
      (told.init["places"] as { withheld: string[] }).withheld.filter((name) => ["GH_TOKEN", "SSH_AUTH_SOCK"].includes(name)),
      ["GH_TOKEN", "SSH_AUTH_SOCK"],
    );
  });
});

type Beginning = { subtype?: string; permissionMode?: string; places?: { boxed: string } };

describe("the mode of a living session changes what is told", needsBox, () => {
  const look = { calls: [{ name: "Bash", input: { command } }] };
  const boxedIn = { default: "unasked", bypassPermissions: "nothing", sandboxed: "unasked", plan: "unasked" };

  it("in init, in the prompt and in results, from the next prompt on", async () => {
    const order = ["default", "bypassPermissions", "sandboxed", "bypassPermissions", "plan"] as const;
    const { server, env } = await model(
      order.flatMap(() => [look, { text: "done" }]),
      tempFolder("places-live"),
    );
    const begun = await converse(["--allow-dangerously-skip-permissions"], { env, order });
    const asked = server.requests.map(({ body }) => body as { system: unknown; messages: unknown[] });
    assert.deepEqual(
      order.map((_, index) => ({
        boxed: begun[index]?.places?.boxed,
        prompt: JSON.stringify(asked[index * 2]?.system).includes("Sandbox: ") ? "unasked" : "nothing",
        ran: JSON.stringify(asked[index * 2 + 1]?.messages.at(-1)).includes("It ran in the sandbox") ? "unasked" : "nothing",
      })),
      order.map((mode) => ({ boxed: boxedIn[mode], prompt: boxedIn[mode], ran: boxedIn[mode] })),
    );
  });

  it("and so does another mode of a session that goes on", async () => {
    const home = tempFolder("places-resumed");
    const cwd = tempFolder("places-resumed-project");
    const { server, env } = await model([{ text: "one" }, { text: "two" }, { text: "three" }], home);
    for (const more of [[], ["--continue", "--permission-mode", "bypassPermissions"], ["--continue"]])
      await start(["-p", "go", ...more], { env, cwd }).done;
    const prompts = server.requests.map(({ body }) => JSON.stringify((body as { system: unknown }).system));
    assert.equal(prompts[2], prompts[0]);
    assert.deepEqual([/Sandbox: /.test(prompts[0] ?? ""), /Sandbox: /.test(prompts[1] ?? "")], [true, false]);
  });

  it("when a hook sets it", async () => {
    const home = tempFolder("places-hooked");
    const decision = {
      behavior: "allow",
      updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
    };
    writeFileSync(
      join(home, "answer.json"),
      JSON.stringify({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } }),
    );
    const hook = { type: "command", command: `cat '${join(home, "answer.json")}'` };
    writeFileSync(join(home, "settings.json"), JSON.stringify({ hooks: { PermissionRequest: [{ hooks: [hook] }] } }));
    const { env } = await model(
      [{ calls: [{ name: "Bash", input: { command: "touch a" } }] }, { text: "a" }, { text: "b" }],
      home,
    );
    const begun = await converse([], { env, order: [undefined, undefined] });
    assert.deepEqual(
      begun.map(({ permissionMode }) => permissionMode),
      ["default", "acceptEdits"],
    );
  });
});

/** Live: a prompt in each of these modes, and the `init` of each. */
async function converse(
  flags: readonly string[],
  { env, order }: { env: Record<string, string>; order: readonly (string | undefined)[] },
): Promise<Beginning[]> {
  const words = ["--input-format", "stream-json", "--output-format", "stream-json", ...flags];
  const { child, done } = start(words, { env: { ...env, TMPDIR: "/var/tmp" }, cwd: tempFolder("places-project"), stdin: "open" });
  let seen = "";
  child.stdout.on("data", (text: string) => {
    seen += text;
  });
  const send = (frame: object): boolean => child.stdin.write(`${JSON.stringify(frame)}\n`);
  for (const [index, mode] of order.entries()) {
    if (index > 0 && mode !== undefined) {
      send({ type: "control_request", request_id: `r${index}`, request: { subtype: "set_permission_mode", mode } });
      await eventually(() => seen.includes(`"request_id":"r${index}"`), "the mode is set");
    }
    send({ type: "user", message: { role: "user", content: "look" } });
    await eventually(() => (seen.match(/"type":"result"/g)?.length ?? 0) === index + 1, "the result");
  }
  child.stdin.end();
  const { stdout } = await done;
  return (lines(stdout) as Beginning[]).filter(({ subtype }) => subtype === "init");
}
