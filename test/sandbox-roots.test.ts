import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openWorkspace } from "../packages/runtime/src/workspace/open-workspace.ts";
import { path, runIn, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const skip = await whyNoSandbox();

describe("a second root of a workspace with boxes", { skip }, () => {
  const stage = setUpBoxes();

  it("is where paths and commands start, and what the box lets be written instead of the first", async () => {
    const root = join(stage.place.base, "second");
    mkdirSync(root);
    const second = await stage.workspace.at(root);
    const { output } = await runIn(second, `pwd; echo two > b.txt; echo x > ${stage.place.project}/b.txt; true`);
    assert.match(output, new RegExp(`^${root}\n.*Read-only file system`, "s"));
    assert.equal(Buffer.from(await second.readFile("b.txt")).toString(), "two\n");
    assert.deepEqual([existsSync(join(stage.place.project, "b.txt")), await stage.workspace.stat("b.txt")], [false, undefined]);
  });

  it("is protected by its own box", async () => {
    const root = join(stage.place.base, "second");
    execFileSync("git", ["init", "-q", root], { env: { PATH: path, HOME: stage.place.home } });
    const second = await stage.workspace.at(root);
    const config = readFileSync(join(root, ".git/config"), "utf8");
    const { result } = await runIn(second, "echo {} > .mcp.json");
    await runIn(second, "git config core.pager evil; true");
    assert.deepEqual(result, { end: "exit", exitCode: 126 });
    assert.deepEqual([existsSync(join(root, ".mcp.json")), readFileSync(join(root, ".git/config"), "utf8")], [false, config]);
  });

  it("has a /tmp of its own and ends by itself, or with the first", async () => {
    const root = join(stage.place.base, "second");
    mkdirSync(root);
    const [one, two] = [await stage.workspace.at(root), await stage.workspace.at(root)];
    await runIn(one, "echo one > /tmp/mine");
    assert.equal((await runIn(two, "cat /tmp/mine")).result.end === "exit" && (await two.stat("/tmp/mine")), undefined);
    await one.close();
    await stage.sh("echo first > /tmp/first");
    assert.equal(Buffer.from(await stage.workspace.readFile("/tmp/first")).toString(), "first\n");
    await stage.workspace.close();
    await assert.rejects(runIn(two, "true"), { code: "closed" });
    await assert.rejects(stage.workspace.at(root), { code: "closed" });
  });

  it("is the same where the box is made when it is needed", async () => {
    const root = join(stage.place.base, "second");
    mkdirSync(root);
    const { project, home, overflow } = stage.place;
    const { workspace } = await openWorkspace({
      root: project,
      env: { PATH: path, HOME: home },
      overflowDirectory: overflow,
      sandbox: { mode: "auto" },
      isPublicAddress: () => true,
    });
    const second = await workspace.at(root);
    const { output } = await runIn(second, `pwd; touch ${project}/b.txt; touch here`);
    assert.match(output, new RegExp(`^${root}\n.*Read-only file system`, "s"));
    assert.equal(existsSync(join(root, "here")), true);
    await assert.rejects(workspace.at(join(root, "none")), { code: "usage", message: /not a directory/ });
    await workspace.close();
    await assert.rejects(runIn(second, "true"), { code: "closed" });
  });
});
