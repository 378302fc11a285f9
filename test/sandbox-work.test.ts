import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { limitProcesses } from "../packages/runtime/src/workspace/box/process-limit.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import { createSandboxedWorkspace } from "../packages/runtime/src/workspace/sandbox.ts";
import { path, runIn, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const skip = await whyNoSandbox();

describe("everyday work in the sandbox", { skip }, () => {
  const stage = setUpBoxes();
  const { open, sh } = stage;

  describe("for everyday work", () => {
    it("lets commands write in the project and keeps it", async () => {
      await sh("mkdir -p src && echo hello > src/new.txt");
      assert.equal(readFileSync(join(stage.place.project, "src/new.txt"), "utf8"), "hello\n");
    });

    it("lets git commit, under the user's name and without the rest of their configuration", async () => {
      const { output } = await sh(
        "git add a.txt && git commit -qm first && git log --format='%an <%ae> %s'; git config github.token",
      );
      assert.equal(output, "Ada <ada@example.com> first\n");
    });

    it("lets git commit in a linked worktree, with the repository's configuration protected", async () => {
      const git = (...args: string[]): Buffer =>
        execFileSync("git", ["-C", stage.place.project, ...args], { env: { PATH: path, HOME: stage.place.home } });
      git("add", "a.txt");
      git("commit", "-qm", "first");
      const tree = join(stage.place.base, "tree");
      git("worktree", "add", "-q", tree);
      const box = await open({}, realpathSync(tree));
      const { output } = await runIn(
        box,
        `echo two > a.txt && git commit -qam second && git log --format=%s; echo x >> ${stage.place.project}/.git/config && echo ESCAPED; echo x > ${stage.place.project}/a.txt && echo ESCAPED`,
      );
      assert.match(output, /^second\nfirst\n/);
      assert.doesNotMatch(output, /ESCAPED/);
    });

    it("does not take the word of a .git file for which repository it belongs to", async () => {
      rmSync(join(stage.place.project, ".git"), { recursive: true });
      writeFileSync(join(stage.place.project, ".git"), `gitdir: ${stage.place.outside}\n`);
      const { output } = await sh(`echo x > ${stage.place.outside}/file.txt && echo ESCAPED`);
      assert.doesNotMatch(output, /ESCAPED/);
    });

    it("gives commands a /tmp that lasts for the session and that files can be read from", async () => {
      await sh("echo kept > /tmp/note");
      const { output } = await sh("cat /tmp/note; echo $TMPDIR");
      assert.deepEqual(
        [output, Buffer.from(await stage.workspace.readFile("/tmp/note")).toString(), existsSync("/tmp/note")],
        ["kept\n/tmp\n", "kept\n", false],
      );
    });

    it("passes exit codes, input and both output streams on", async () => {
      const streams = { stdout: "", stderr: "" };
      const result = await stage.workspace.run({
        file: "bash",
        args: ["-c", "cat; echo error >&2; exit 42"],
        input: "given\n",
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        onOutput: ({ stream, bytes }) => {
          streams[stream] += Buffer.from(bytes).toString();
        },
      });
      assert.deepEqual({ result, ...streams }, { result: { end: "exit", exitCode: 42 }, stdout: "given\n", stderr: "error\n" });
    });

    it("gives a command time to clean up when it is interrupted", async () => {
      const stop = new AbortController();
      const { result } = await sh("trap 'echo cleaned > cleaned; exit' TERM; echo ready; sleep 20 & wait", {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      });
      assert.deepEqual(
        { result, cleaned: existsSync(join(stage.place.project, "cleaned")) },
        { result: { end: "aborted" }, cleaned: true },
      );
    });

    it("runs in the project where the wanted directory is hidden", async () => {
      const { output } = await sh("pwd", { cwd: join(stage.place.home, ".ssh") });
      assert.equal(output, `${stage.place.project}\n`);
    });

    it("does not box a program the user has named", async () => {
      const { output } = await sh("cat ~/.ssh/id_ed25519", { unboxed: true });
      assert.equal(output, "SECRET-KEY\n");
    });

    it("warns only when the number of processes cannot be limited", async () => {
      const warnings: string[] = [];
      const env = { PATH: path, HOME: stage.place.home };
      const box = await createSandboxedWorkspace({
        sandbox: { mode: "require" },
        local: createLocalWorkspace({ root: stage.place.project, env, overflowDirectory: stage.place.overflow }),
        home: stage.place.home,
        env,
        overflowDirectory: stage.place.overflow,
        isPublicAddress: () => true,
        onWarning: (message) => warnings.push(message),
      });
      await runIn(box, "true");
      await box.close();
      const group = limitProcesses(100);
      await group?.release();
      const isLimited = process.getuid?.() !== 0 || group !== undefined;
      assert.deepEqual(
        warnings.map((message) => /^The number of processes is not limited/.test(message)),
        isLimited ? [] : [true],
      );
    });

    it("does not run a command whose box cannot be made", async () => {
      const box = await open({ allowWrite: [stage.place.outside] });
      await runIn(box, "true");
      rmSync(join(stage.place.overflow, "sandbox/tmp"), { recursive: true });
      await assert.rejects(runIn(box, "touch ran"), {
        code: "config",
        message: /could not be set up, so the command was not run: .*sandbox\/tmp: No such file or directory\.$/,
      });
      assert.equal(existsSync(join(stage.place.project, "ran")), false);
    });
  });
});
