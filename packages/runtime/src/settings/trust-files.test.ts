import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { defaultBounds, filesNamedIn, listProjectFiles, readProjectFile } from "./trust-files.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-trust-files-")));
after(() => rmSync(folder, { recursive: true, force: true }));

describe("the files a project is trusted for", () => {
  it("are all below its folders but those that agents work in, and links with where they lead", () => {
    const root = project(
      ".claude/memory/a.md",
      ".claude/skills/tasks/run.sh",
      ".claude/settings.json",
      "src/index.ts",
      ".mcp.json",
    );
    symlinkSync("nowhere", join(root, ".claude/lost"));
    symlinkSync("skills", join(root, ".claude/more"));
    assert.deepEqual(
      listProjectFiles(root, [".claude", ".mcp.json", ".outrider"]).map(({ name, link, content }) => [name, link, content]),
      [
        [".claude/lost", "nowhere", false],
        [".claude/more", "skills", false],
        [".claude/more/tasks/run.sh", undefined, true],
        [".claude/settings.json", undefined, true],
        [".claude/skills/tasks/run.sh", undefined, true],
        [".mcp.json", undefined, true],
      ],
    );
  });

  it("are at most as many as it may look at", () => {
    const root = project(".claude/a", ".claude/b", ".claude/c");
    assert.equal(listProjectFiles(root, [".claude"], { ...defaultBounds, files: 3 }).length, 3);
    assert.throws(() => listProjectFiles(root, [".claude"], { ...defaultBounds, files: 2 }), {
      code: "config",
      message: "there are more than 2 files to look at",
    });
  });

  it("are not nested deeper than anybody nests them", () => {
    const nested = (depth: number): string => `.claude/${"d/".repeat(depth)}file`;
    assert.equal(listProjectFiles(project(nested(32)), [".claude"]).length, 1);
    assert.throws(() => listProjectFiles(project(nested(33)), [".claude"]), { code: "config", message: /nested too deeply$/ });
  });
});

describe("the files that a command names", () => {
  const root = project("x.sh", "a b/tool.mjs", "conf/c.json", "package.json", "Makefile", "..odd");
  symlinkSync("circle", join(root, "circle"));
  const commands: [command: string, names: string[]][] = [
    ["./x.sh --all", ["x.sh"]],
    ["x.sh;conf/c.json", ["x.sh", "conf/c.json"]],
    ["run --config=conf/c.json", ["conf/c.json"]],
    ['node "$CLAUDE_PROJECT_DIR/a b/tool.mjs"', ["a b/tool.mjs"]],
    [`$${"{OUTRIDER_PROJECT_DIR}"}/x.sh $PWD/conf/c.json`, ["x.sh", "conf/c.json"]],
    [`${root}/x.sh`, ["x.sh"]],
    ["npm test", ["package.json"]],
    ["make all", ["Makefile"]],
    ["..odd", ["..odd"]],
    ["circle", ["circle"]], // it cannot be looked at, so whoever reads it will say so
    ["constructor toString", []],
    ["echo hello > /dev/null", []],
    [`cat ../${"x/".repeat(3)} .. . ${dirname(root)} /etc/passwd`, []],
    [`cat ${"./".repeat(2045)}/x.sh`, ["x.sh"]],
    [`cat ${"./".repeat(2046)}x.sh`, []],
    ["a\0b", []],
    ["conf", []],
    ["", []],
  ];
  for (const [command, names] of commands)
    it(`${JSON.stringify(command.slice(0, 60)).replace(folder, "")}: ${names.join(", ") || "none"}`, () =>
      assert.deepEqual(filesNamedIn(command, root), names));

  it("are not looked for in a text that nobody would write", () => {
    assert.deepEqual(filesNamedIn("x.sh".padEnd(100_000), root), ["x.sh"]);
    assert.throws(() => filesNamedIn("x.sh".padEnd(100_001), root), { code: "config", message: /longer than 100000/ });
  });
});

describe("a file of a project", () => {
  it("is read whole, with whether it may be executed, when it is not too large", () => {
    const path = join(project("x.sh"), "x.sh");
    writeFileSync(path, "12345");
    assert.deepEqual(readProjectFile(path, 5), { bytes: Buffer.from("12345"), executable: false });
    chmodSync(path, 0o755);
    assert.equal(readProjectFile(path, 5).executable, true);
    assert.throws(() => readProjectFile(path, 4), { code: "config", message: /too much to look at \(.*x.sh has 5 bytes\)$/ });
    assert.throws(() => readProjectFile(dirname(path), 4), { code: "config", message: /is no regular file$/ });
  });

  it("is not left open", { skip: existsSync("/proc/self/fd") ? false : "needs /proc" }, () => {
    const path = join(project("x.sh"), "x.sh");
    const before = readdirSync("/proc/self/fd").length;
    readProjectFile(path, 0);
    writeFileSync(path, "1");
    assert.throws(() => readProjectFile(path, 0));
    assert.equal(readdirSync("/proc/self/fd").length, before);
  });

  it("that holds more than it says is being written", { skip: existsSync("/proc/self/status") ? false : "needs /proc" }, () => {
    assert.throws(() => readProjectFile("/proc/self/status", 100), { code: "config", message: /is being written$/ });
  });
});

function project(...names: string[]): string {
  const root = mkdtempSync(join(folder, "p-"));
  for (const name of names) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), "");
  }
  return root;
}
