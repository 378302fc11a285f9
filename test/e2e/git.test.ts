import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { hostileRepositories, type Stage, stageIn } from "../support/hostile-repositories.ts";
import { whyNoSandbox } from "../support/sandbox-place.ts";
import { lines, model, run, tempFolder } from "./command.ts";

const noBox = await whyNoSandbox();
const look =
  "git status --short; git diff; git log -p --format=%G?; git blame a.txt; echo x | xargs -I{} git diff; git -C . status";

/** What the model reads when it runs this command. */
async function answerTo(command: string, stage: Stage, flags: readonly string[]): Promise<string> {
  const { env, server } = await model(
    [{ calls: [{ name: "Bash", input: { command } }] }, { text: "ok" }],
    tempFolder("git-home"),
  );
  const args = ["-p", "go", "--output-format", "stream-json", "--verbose", ...flags];
  const { stdout } = await run(args, { cwd: stage.folder, env });
  assert.deepEqual(lines(stdout).at(-1)?.["permission_denials"], []);
  return JSON.stringify(server.requests[1]?.body);
}

describe("git that nobody was asked about", () => {
  const names = ["a monitor", "a filter", "a diff driver that converts", "the driver for files without one", "an external diff"];
  names.push("a submodule with a filter", "a linked worktree", "signatures to be checked");
  for (const sandbox of ["off", "require"])
    for (const trust of [[], ["--trust-project"]])
      for (const { name, build, from } of hostileRepositories.filter(({ name }) => names.includes(name)))
        it(`looks at a repository with ${name}: sandbox ${[sandbox, ...trust].join(" ")}`, {
          skip: sandbox === "require" && noBox,
        }, async () => {
          const folder = tempFolder("git");
          const stage = stageIn(folder, join(folder, "mark"));
          build(stage);
          const answer = await answerTo(from === undefined ? look : `cd ${from} && ${look}`, stage, [
            "--sandbox",
            sandbox,
            ...trust,
          ]);
          assert.match(answer, /changed/);
          assert.equal(existsSync(join(folder, "mark")), false, answer);
        });

  for (const sandbox of ["off", "require"])
    it(`leaves a program that a rule names its own git: sandbox ${sandbox}`, {
      skip: sandbox === "require" && noBox,
    }, async () => {
      const folder = tempFolder("git");
      const stage = stageIn(folder, join(folder, "mark"));
      hostileRepositories.find(({ name }) => name === "a monitor")?.build(stage);
      writeFileSync(join(folder, "check.sh"), "#!/bin/bash\ntype git\n", { mode: 0o755 });
      const flags = ["--sandbox", sandbox, "--allowedTools", "Bash(./check.sh:*)"];
      const answer = await answerTo('./check.sh && git status --short | cat; echo "$(git diff)"', stage, flags);
      assert.match(answer, /git is \/usr[^ ]*\/git\\n/);
      assert.match(answer, /M a\.txt/);
      assert.equal(existsSync(join(folder, "mark")), false, answer);
    });
});
