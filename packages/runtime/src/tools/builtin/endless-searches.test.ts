import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createToolBench, type ToolBench } from "../../../../../test/support/tool-bench.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";

const alone = "is no regular file (a device, socket or pipe) and is left alone.";
const onLinux = { skip: existsSync("/proc/self") ? false : "needs /proc" };
/** A search that waits for ever fails here. */
const patience = { timeout: 45_000 };

for (const ripgrep of [true, false]) {
  // Shorter than the patience above, so that what is given up late is seen too.
  const grep = createGrepTool({ ripgrep, limitMs: 30_000 });
  const glob = createGlobTool({ ripgrep, limitMs: 30_000 });

  describe(`A search ${ripgrep ? "with ripgrep" : "without ripgrep"}`, () => {
    let bench: ToolBench;
    const pipe = (path: string): void => void execFileSync("mkfifo", [join(bench.root, path)]);
    before(() => {
      bench = createToolBench();
      bench.write("src/a.ts", "needle\n");
      bench.write("src/deep/b.ts", "needle\n");
    });
    after(() => bench.close());

    it("refuses pipes, sockets and devices that it is pointed at", patience, async () => {
      pipe("given");
      symlinkSync("given", join(bench.root, "link"));
      const server = createServer().listen(join(bench.root, "socket"));
      try {
        for (const path of ["given", "link", "socket", "/dev/zero", "/dev/tty"]) {
          const name = path === "link" ? "given" : path;
          assert.equal(await bench.say(grep, { pattern: "x", path }), `${name} ${alone}`);
          assert.equal(await bench.say(glob, { pattern: "*", path }), `${name} ${alone}`);
        }
      } finally {
        server.close();
      }
    });

    it("refuses the kernel's trees, and reads a file of them", { ...onLinux, ...patience }, async () => {
      for (const path of ["/proc", "/proc/self/", "/sys", "/proc/self/task"]) {
        for (const [tool, pattern] of [
          [grep, "x"],
          [glob, "**"],
        ] as const) {
          assert.match(await bench.say(tool, { pattern, path }), /is a view into the running kernel.*use Bash\.$/);
        }
      }
      assert.match(await bench.say(glob, { pattern: "/proc/**/status" }), /view into the running kernel/);
      const input = { pattern: "^Name", path: `/proc/${process.pid}/status`, output_mode: "content" };
      assert.match(await bench.say(grep, input), /status:1:Name/);
    });

    it("passes by pipes, sockets and devices inside a tree", patience, async () => {
      pipe("src/inner");
      symlinkSync("/dev/zero", join(bench.root, "src/endless"));
      assert.equal(await bench.say(grep, { pattern: "needle", path: "src", output_mode: "count" }), both);
      assert.equal((await bench.say(glob, { pattern: "src/**" })).split("\n").sort().join(), "src/a.ts,src/deep/b.ts");
    });

    for (const [fact, odd] of [
      ["a pipe", (path: string) => pipe(path)],
      ["a link to an endless device", (path: string) => symlinkSync("/dev/zero", join(bench.root, path))],
    ] as const) {
      for (const place of [".gitignore", "src/.gitignore", "src/deep/.ignore", "src/.rgignore", ".git/info/exclude"]) {
        it(`does not wait for ${fact} called ${place}`, patience, async () => {
          const own = createToolBench();
          bench = own;
          try {
            own.write("src/a.ts", "needle\n");
            own.write("src/deep/b.ts", "needle\n");
            mkdirSync(join(own.root, ".git/info"), { recursive: true });
            odd(place);
            for (const path of ["src", "."]) {
              assert.equal(await own.say(grep, { pattern: "needle", path, output_mode: "count", glob: "*.ts" }), both);
              const found = await own.say(glob, { pattern: "**/*.ts", path });
              assert.equal(found.split("\n").sort().join(), "src/a.ts,src/deep/b.ts");
            }
          } finally {
            await own.close();
          }
        });
      }
    }

    it("that hangs in the file system is given up in words", patience, async () => {
      const own = createToolBench();
      try {
        own.write(".gitignore", "x\n");
        const hanging: Workspace = {
          ...own.workspace,
          readDirectory: () => new Promise(() => {}),
          run: () => new Promise(() => {}),
        };
        const context = { ...own.context, workspace: hanging };
        const words = { message: "The search took longer than 0.1 seconds and was given up. Search in a smaller directory." };
        const impatient = { ripgrep, limitMs: 100 };
        await assert.rejects(createGrepTool(impatient).execute({ pattern: "x" }, context), words);
        await assert.rejects(createGlobTool(impatient).execute({ pattern: "**" }, context), words);
      } finally {
        await own.close();
      }
    });
  });
}

describe("A search without a descriptor left", () => {
  it("fails in words, and does not say that nothing was found", async () => {
    const bench = createToolBench();
    try {
      bench.write("a.txt", "needle\n");
      const cause = Object.assign(new Error("EMFILE"), { code: "EMFILE" });
      const failing = async (): Promise<never> => {
        throw new RuntimeError("usage", "too many files are open", { cause });
      };
      const words = { message: "The search failed: too many files are open." };
      for (const part of [{ readDirectory: failing }, { readFile: failing }]) {
        const context = { ...bench.context, workspace: { ...bench.workspace, ...part } };
        await assert.rejects(createGrepTool({ ripgrep: false }).execute({ pattern: "needle" }, context), words);
      }
      const context = { ...bench.context, workspace: { ...bench.workspace, readDirectory: failing } };
      await assert.rejects(createGlobTool({ ripgrep: false }).execute({ pattern: "**" }, context), words);
      const forbidden = async (): Promise<never> => {
        throw new RuntimeError("usage", "permission denied");
      };
      const shut = { ...bench.context, workspace: { ...bench.workspace, readFile: forbidden } };
      const { content } = await createGrepTool({ ripgrep: false }).execute({ pattern: "needle" }, shut);
      assert.deepEqual(content, [{ type: "text", text: "No matches found." }]);
    } finally {
      await bench.close();
    }
  });
});

const both = "src/a.ts:1\nsrc/deep/b.ts:1\n[2 in 2 files.]";
