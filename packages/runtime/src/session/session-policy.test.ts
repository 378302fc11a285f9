import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createGrants } from "../permissions/grants.ts";
import { decide } from "../permissions/decide.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import { SessionPolicy } from "./session-policy.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-session-policy-")));
const home = join(top, "home");
for (const folder of ["home/project", "home/mine", "shared/library", "long"]) mkdirSync(join(top, folder), { recursive: true });
symlinkSync(join(top, "shared"), join(top, "linked"));
symlinkSync(join(top, "long"), join(top, "linked-long"));
symlinkSync("loop", join(top, "loop"));
const workspace = createLocalWorkspace({ root: join(home, "project"), env: {}, overflowDirectory: join(top, "linked-long") });
after(async () => {
  await workspace.close();
  rmSync(top, { recursive: true, force: true });
});

describe("SessionPolicy", () => {
  const load = (permissions: object = {}, mode: "default" | "bypassPermissions" = "default") =>
    SessionPolicy.load({
      mode,
      allowedTools: undefined,
      disallowedTools: undefined,
      permissions,
      workspace,
      env: {},
      home,
      readable: [join(top, "long")],
    });

  it("follows the links in folders that are added later, too", async () => {
    const policy = await load();
    await policy.apply({ type: "addDirectories", directories: [join(top, "linked/library")], destination: "session" });
    assert.deepEqual(policy.current.directories, [join(top, "shared/library")]);
  });

  it("takes no mode that the session was not started for", async () => {
    const policy = await load();
    assert.throws(() => policy.setMode("bypassPermissions"), { code: "usage" });
    assert.throws(() => policy.setMode("sandboxed"), { code: "usage" });
    assert.equal(policy.current.mode, "default");
    policy.setMode("plan");
    assert.equal(policy.current.mode, "plan");
    for (const open of [await load({ mayBypass: true }), await load({}, "bypassPermissions")]) {
      open.setMode("plan");
      open.setMode("bypassPermissions");
      assert.equal(open.current.mode, "bypassPermissions");
    }
    assert.match((await policy.apply({ type: "setMode", mode: "sandboxed", destination: "session" })).join(), /needs a sandbox/);
  });

  it("keeps a yes for exactly what it was given for", async () => {
    const policy = await load();
    const action = { tool: "Bash", kind: "run", resource: "npm install", cwd: join(home, "project") } as const;
    const effect = async (resource: string): Promise<string> => (await decide(policy.current, [{ ...action, resource }])).effect;
    assert.equal(await effect("npm install"), "ask");
    await policy.remember([action], "session");
    assert.deepEqual([await effect("npm install"), await effect("npm install x")], ["allow", "ask"]);
  });

  it("keeps a yes to a tool that does not say what its calls are about, and says what that covers", async () => {
    for (const given of [{}, { grants: createGrants({ root: home }) }]) {
      const policy = await load(given);
      const action = { tool: "deploy", kind: "reach", resource: "" } as const;
      assert.equal((await decide(policy.current, [action])).effect, "ask");
      assert.deepEqual(await policy.remember([action], "session"), ["every call of deploy"]);
      assert.equal((await decide(policy.current, [action])).effect, "allow");
      assert.equal((await decide(policy.current, [{ ...action, tool: "deploys" }])).effect, "ask");
    }
  });

  it("follows the links in the folders that belong to the work, and in the one for long outputs", async () => {
    const additionalDirectories = [join(top, "linked/library"), "~/mine", "../mine/later", join(top, "loop")];
    const policy = await SessionPolicy.load({
      mode: "default",
      allowedTools: undefined,
      disallowedTools: undefined,
      permissions: { additionalDirectories },
      workspace,
      env: {},
      home,
      readable: [join(top, "linked-long")],
    });
    const { directories, readable } = policy.current;
    assert.deepEqual(
      [directories, readable],
      [[join(top, "shared/library"), join(home, "mine"), join(home, "mine/later"), join(top, "loop")], [join(top, "long")]],
    );
    const resource = await workspace.resolve(join(top, "linked/library/a.txt"));
    assert.equal((await decide(policy.current, [{ tool: "Read", kind: "look", resource }])).effect, "allow");
  });
});
