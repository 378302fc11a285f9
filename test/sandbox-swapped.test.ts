import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { contents, path, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const skip = (await whyNoSandbox()) || (!hasPython && "there is no python3");

/** Makes a git directory to be put right, and swaps it for a link that leads outside, thousands of times a second. */
const swap = `
import ctypes, os, subprocess, time
libc = ctypes.CDLL(None)
os.symlink("TARGET", "n0-link")
end = time.time() + 60
def make():
    subprocess.run("rm -rf n0 n1; git init -q n0; cd n0; git config alias.q '!evil'; echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", shell=True)
make()
while time.time() < end:
    for _ in range(2000):
        libc.renameat2(-100, b"n0/.git", -100, b"n0-link", 2)
    if not os.path.exists("n0/.git/hooks/pre-commit") and not os.path.exists("n0-link/hooks/pre-commit"):
        make()
`;

describe("a program in the sandbox that swaps folders for links while others end", { skip }, () => {
  const stage = setUpBoxes();

  it("has nothing outside changed, moved or shown", async () => {
    const victim = join(stage.place.outside, "repo");
    mkdirSync(victim);
    execFileSync("git", ["init", "-q", victim], { env: { PATH: path, HOME: stage.place.home } });
    const git = join(victim, ".git");
    writeFileSync(join(git, "config"), `${readFileSync(join(git, "config"), "utf8")}[alias]\n\tz = !SECRET-ALIAS\n`);
    writeFileSync(join(git, "hooks/pre-commit"), "SECRET-HOOK\n", { mode: 0o755 });
    const before = contents(stage.place.outside);
    const script = swap.replace("TARGET", git);
    const running = await stage.workspace.start({ file: "python3", args: ["-c", script] });
    let kept = "";
    for (let round = 0; round < 25; round++) {
      await stage.sh(`sleep 0.1; echo ${round} > t`);
      // Links that were set aside still lead where they led: only what lies there itself is looked at.
      kept += spawnSync("find", [
        join(stage.place.overflow, "sandbox/set-aside"),
        "-type",
        "f",
        "-exec",
        "cat",
        "{}",
        "+",
      ]).stdout;
    }
    await running.kill();
    assert.deepEqual(contents(stage.place.outside), before);
    assert.doesNotMatch(kept, /SECRET/);
    assert.match(kept, /evil/, "what the program made was taken out of the way all the same");
  });
});
