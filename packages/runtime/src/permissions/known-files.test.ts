import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { knownFiles } from "./known-files.ts";

/** `/link` leads to `/real`; `asked` is what the file system was asked. */
function files() {
  const asked: string[] = [];
  const found = knownFiles(
    async (path) => {
      asked.push(path);
      return path.replace(/^\/link/, "/real").replace(/out$/, "else");
    },
    async (folder) => {
      asked.push(`ls ${folder}`);
      if (folder === "/none") return undefined;
      return [
        { name: "a", kind: "file" },
        { name: "b", kind: "directory" },
        { name: "out", kind: "symlink" },
        { name: "pipe", kind: "other" },
      ];
    },
  );
  const all = async (...paths: string[]): Promise<string[]> => {
    const real: string[] = [];
    for (const path of paths)
      real.push(path.startsWith("ls ") ? String((await found.list?.(path.slice(3)))?.length) : await found.resolve(path));
    return real;
  };
  return { asked, all };
}

describe("the files of one decision", () => {
  it("are asked for once", async () => {
    const { asked, all } = files();
    await all("/x", "/x", "ls /x", "ls /x");
    assert.deepEqual(asked, ["/x", "ls /x"]);
  });

  it("are where their names say when a real folder holds them and they are no links", async () => {
    const { asked, all } = files();
    assert.deepEqual(await all("/real", "ls /real/", "/real/a", "/real/b", "/real/out", "/real/pipe", "/real/new", "/real/b/x"), [
      ...["/real", "4", "/real/a", "/real/b", "/real/else", "/real/pipe", "/real/new", "/real/b/x"],
    ]);
    assert.deepEqual(asked, ["/real", "ls /real/", "/real/out", "/real/pipe", "/real/new", "/real/b/x"]);
  });

  it("are asked for where the folder is reached by a link, is not listed, or is not known to be real", async () => {
    const { asked, all } = files();
    assert.deepEqual(
      await all("/link", "ls /link", "/link/a", "/none", "ls /none", "/none/a", "ls /", "/a", "ls /other", "/other/a"),
      [...["/real", "4", "/real/a", "/none", "undefined", "/none/a", "4", "/a", "4", "/other/a"]],
    );
    assert.deepEqual(
      asked.filter((path) => !path.startsWith("ls ")),
      ["/link", "/link/a", "/none", "/none/a", "/a", "/other/a"],
    );
    assert.deepEqual((await files().all("/", "ls /", "/a")).at(-1), "/a");
  });

  it("need nobody who lists folders", () => {
    assert.equal(knownFiles(async (path) => path, undefined).list, undefined);
  });
});
