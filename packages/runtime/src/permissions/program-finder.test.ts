import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createProgramFinder, type ProgramFinder } from "./program-finder.ts";

const files = new Set([
  "/usr/bin/ls",
  "/bin/sh",
  "/usr/sbin/ip",
  "/opt/x/bin/go",
  "/proj/bin/ls",
  "/proj/bin/make",
  "/opt/x/bin/tool",
  "/usr/bin/tool",
]);
const links: Record<string, string> = {
  "/opt/x/bin/tool": "/proj/tool",
  "/opt/linked": "/proj/bin",
  "/opt/linked/make": "/proj/bin/make",
};

function finder(path: string | undefined): ProgramFinder {
  return createProgramFinder({
    path,
    roots: ["/other", "/proj"],
    isFile: async (file) => files.has(file) || file === "/opt/linked/make",
    resolve: async (file) => {
      if (file.startsWith("/none")) throw new Error("not there");
      return links[file] ?? file;
    },
  });
}

describe("where the name of a program leads", () => {
  it("is the first folder of the PATH that has it", async () => {
    const places = async (path: string | undefined, ...names: string[]): Promise<unknown[]> =>
      Promise.all(names.map((name) => finder(path).place(name)));
    const system = "/none:/opt/x/bin:/usr/bin:/bin:/usr/sbin";
    assert.deepEqual(await places(system, "ls", "sh", "ip", "go", "rm"), ["system", "system", "system", "other", undefined]);
    assert.deepEqual(await places(system, "tool"), ["project"], "a link into the project");
    assert.deepEqual(await places("/usr/bin:/opt/x/bin", "tool"), ["system"]);
    assert.deepEqual(await places("/proj/bin:/usr/bin", "ls", "tool"), ["project", "system"]);
    assert.deepEqual(await places("/usr/bin:/opt/linked", "ls", "make"), ["system", "project"]);
    assert.deepEqual(await places("bin:/usr/bin", "ls"), ["project"], "relative to wherever the command is");
    assert.deepEqual(await places("/usr/bin:", "ls", "rm"), ["system", "project"], "an empty part is the folder itself");
    assert.deepEqual(await places(undefined, "ls"), ["project"]);
  });

  it("may be the project only where the PATH has a folder of it", async () => {
    const shadowed = async (path: string, name: string, changed: boolean): Promise<boolean> =>
      finder(path).isShadowed(name, changed);
    assert.equal(await shadowed("/usr/bin:/bin", "ls", true), false);
    assert.equal(await shadowed("/usr/bin:bin", "ls", true), true);
    assert.equal(await shadowed("/usr/bin:/proj/bin", "ls", false), false);
    assert.equal(await shadowed("/usr/bin:/proj/bin", "ls", true), true);
    assert.equal(await shadowed("/proj/bin:/usr/bin", "ls", false), true);
    assert.equal(await shadowed("/opt/linked:/usr/bin", "make", false), true);
  });

  it("is told with links followed, outside the project only", async () => {
    const found = (path: string, name: string) => finder(path).found?.(name);
    assert.deepEqual(await found("/usr/bin:/opt/x/bin", "tool"), { file: "/usr/bin/tool", real: "/usr/bin/tool" });
    assert.deepEqual(await found("/opt/x/bin:/usr/bin", "tool"), { file: "/opt/x/bin/tool", real: "/proj/tool" });
    assert.deepEqual(await found("bin:/proj/bin:/usr/bin", "ls"), { file: "/usr/bin/ls", real: "/usr/bin/ls" });
    assert.equal(await found("/usr/bin", "rm"), undefined);
  });

  it("is looked for once", async () => {
    let looks = 0;
    const isFile = async (): Promise<boolean> => ++looks > 0;
    const once = createProgramFinder({ path: "/usr/bin", roots: [], isFile, resolve: async (file) => file });
    await Promise.all([once.found?.("a"), once.found?.("a"), once.found?.("b")]);
    assert.equal(looks, 2);
  });
});
