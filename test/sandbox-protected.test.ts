import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { contents, runIn, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const skip = await whyNoSandbox();

describe("protection in the sandbox", { skip }, () => {
  const stage = setUpBoxes();
  const { open, sh } = stage;

  describe("protected files that are not there yet", () => {
    const attempts: readonly (readonly [name: string, script: string])[] = [
      ["settings of another agent", "mkdir .agent && echo '{}' > .agent/settings.json"],
      ["own settings", "mkdir -p .outrider && echo '{}' > .outrider/settings.json"],
      ["memory", "mkdir -p .outrider/memory && echo evil > .outrider/memory/MEMORY.md"],
      ["own settings in a folder that is a link", "mkdir evil; echo '{}' > evil/settings.json; ln -s evil .outrider; rm -r evil"],
      ["servers to start", "echo '{}' > .mcp.json"],
      ["start-up files of shells", "echo evil > .bashrc; echo evil > .zshenv; echo evil > .envrc"],
      ["another directory for git's configuration", "echo ../evil > .git/commondir"],
      ["configuration of one worktree", "echo '[core]' > .git/config.worktree"],
    ];
    for (const [name, script] of attempts) {
      it(`takes away: ${name}`, async () => {
        const before = contents(stage.place.project);
        const { result, output } = await sh(script);
        assert.deepEqual(
          { result, files: contents(stage.place.project) },
          { result: { end: "exit", exitCode: 126 }, files: before },
        );
        assert.match(output, /outrider: protected, and put back as before: /);
      });
    }

    it("ends a command that goes on after it", async () => {
      const { result } = await sh("echo '{}' > .mcp.json; sleep 25", { timeoutMs: 20_000 });
      assert.deepEqual(result, { end: "exit", exitCode: 126 });
    });

    it("keeps what was written, outside of the project", async () => {
      await sh("echo '{\"evil\":1}' > .mcp.json");
      assert.equal(readFileSync(join(stage.place.overflow, "sandbox/set-aside/1-.mcp.json"), "utf8"), '{"evil":1}\n');
    });

    it("lets a new repository be made, without anything that git would run", async () => {
      rmSync(join(stage.place.project, ".git"), { recursive: true });
      const { output } = await sh(
        "git init -q -b main . && git config user.name Eve && git config core.fsmonitor ./evil && printf '#!/bin/sh\\nevil' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
      );
      assert.match(output, /pre-commit.*config/);
      const hooks = readdirSync(join(stage.place.project, ".git/hooks")).filter((name) => !name.endsWith(".sample"));
      const config = readFileSync(join(stage.place.project, ".git/config"), "utf8");
      assert.deepEqual(
        { hooks, fsmonitor: /fsmonitor/.test(config), name: /name = Eve/.test(config) },
        { hooks: [], fsmonitor: false, name: true },
      );
      const next = await sh("echo x >> .git/config");
      assert.notDeepEqual(next.result, { end: "exit", exitCode: 0 });
    });

    it("takes away a repository that only points elsewhere", async () => {
      rmSync(join(stage.place.project, ".git"), { recursive: true });
      await sh(`echo 'gitdir: ${stage.place.outside}' > .git`);
      assert.equal(existsSync(join(stage.place.project, ".git")), false);
    });

    it("takes away a repository without .git", async () => {
      rmSync(join(stage.place.project, ".git"), { recursive: true });
      await sh("git init -q --bare .");
      assert.equal(existsSync(join(stage.place.project, "HEAD")), false);
    });

    it("lets a repository be made in a sub-directory, as git makes it", async () => {
      const { result } = await sh("git init -q sub");
      const hooks = readdirSync(join(stage.place.project, "sub/.git/hooks")).filter((name) => !name.endsWith(".sample"));
      assert.deepEqual({ result, hooks }, { result: { end: "exit", exitCode: 0 }, hooks: [] });
    });
  });

  it("starts with hooks that are a link, and protects what the link leads to", async () => {
    rmSync(join(stage.place.project, ".git/hooks"), { recursive: true });
    mkdirSync(join(stage.place.project, "my-hooks"));
    symlinkSync("../my-hooks", join(stage.place.project, ".git/hooks"));
    const before = contents(stage.place.project);
    const inside = await sh("echo evil > my-hooks/pre-commit");
    const swapped = await sh("rm .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit");
    assert.deepEqual(
      [inside.result, swapped.result],
      [
        { end: "exit", exitCode: 1 },
        { end: "exit", exitCode: 126 },
      ],
    );
    assert.deepEqual(contents(stage.place.project), before);
  });

  it("protects the directory that is configured for hooks", async () => {
    mkdirSync(join(stage.place.project, "my-hooks"));
    execFileSync("git", ["-C", stage.place.project, "config", "core.hooksPath", "my-hooks"]);
    const { result } = await sh("echo evil > my-hooks/pre-commit");
    assert.deepEqual(result, { end: "exit", exitCode: 1 });
  });

  it("protects start-up files and secrets of a home that is the stage.workspace, also through a link", async () => {
    symlinkSync(stage.place.home, join(stage.place.base, "link"));
    const before = contents(stage.place.home);
    const box = await open({}, join(stage.place.base, "link"));
    const { output } = await runIn(
      box,
      "echo evil > .bashrc && echo ESCAPED; echo evil > ~/.gitconfig && echo ESCAPED; cat .ssh/* .config/gh/*; touch ok; rm ok",
    );
    const made = await runIn(box, "touch .zshrc");
    assert.doesNotMatch(output, /ESCAPED|SECRET-KEY/);
    assert.deepEqual(
      { result: made.result, files: contents(stage.place.home) },
      { result: { end: "exit", exitCode: 126 }, files: before },
    );
  });

  it("protects start-up files below a directory that may be written", async () => {
    const before = contents(stage.place.home);
    const box = await open({ allowWrite: [stage.place.base] });
    const { output } = await runIn(
      box,
      "cd ~ && mkdir -p sub && cd sub && echo evil > ~/.bashrc && echo ESCAPED; rmdir ~/sub; cat ~/.ssh/*",
    );
    const made = await runIn(box, "cd ~ && touch .profile");
    assert.doesNotMatch(output, /ESCAPED|SECRET-KEY/);
    assert.deepEqual(
      { result: made.result, files: contents(stage.place.home) },
      { result: { end: "exit", exitCode: 126 }, files: before },
    );
  });
});
