import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hasOrders, mayHoldModules } from "./folder-orders.ts";
import type { ListFolder } from "./glob-words.ts";

/** Folder → what is in it; a name with `/` is a folder. */
const listing =
  (folders: Readonly<Record<string, string>>): ListFolder =>
  async (folder) =>
    folders[folder]
      ?.split(" ")
      .filter(Boolean)
      .map((name) => ({ name: name.replace("/", ""), kind: name.endsWith("/") ? "directory" : "file" }));

describe("files that give orders", () => {
  const found = (
    folders: Readonly<Record<string, string>>,
    starts = ["/h/p/src"],
    home: string | undefined = "/h",
  ): Promise<boolean> => hasOrders(starts, { names: [".rc", "rc"], list: listing(folders), base: { root: "/h/p", home } });
  const plain = { "/h/p/src": "a", "/h/p": "src/" };

  it("are found in a folder and above it, not in the user's home", async () => {
    const rows: [Readonly<Record<string, string>>, boolean][] = [
      [plain, false],
      [{ ...plain, "/h/p/src": "a rc" }, true],
      [{ ...plain, "/h/p": ".rc src/" }, true],
      [{ ...plain, "/h": ".rc" }, false],
      [{ ...plain, "/": "rc" }, true],
      [{ "/h/p": "src/" }, true], // what cannot be listed may hold them
      [{ "/h/p/src": "a" }, true],
    ];
    for (const [folders, expected] of rows) assert.equal(await found(folders), expected, JSON.stringify(folders));
    assert.equal(await found({ ...plain, "/o": "rc" }, ["/h/p/src", "/o"]), true);
    assert.equal(await found(plain, []), false);
  });

  it("are found in a home that is the project", async () => {
    const base = { root: "/h", home: "/h" };
    assert.equal(await hasOrders(["/h"], { names: ["rc"], list: listing({ "/h": "rc" }), base }), true);
    assert.equal(await hasOrders(["/h"], { names: ["rc"], list: listing({ "/h": "x" }), base }), false);
  });

  it("count only where what they say matters", async () => {
    const list = listing({ "/h/p/a": "rc", "/h/p": "rc" });
    const base = { root: "/h/p", home: "/h" };
    const asked: string[] = [];
    const matters = (wanted: string) => async (file: string) => {
      asked.push(file);
      return file === wanted;
    };
    assert.equal(await hasOrders(["/h/p/a"], { names: ["rc"], matters: matters("/h/p/rc"), list, base }), true);
    assert.deepEqual(asked, ["/h/p/a/rc", "/h/p/rc"]);
    assert.equal(await hasOrders(["/h/p/a"], { names: ["rc"], matters: matters("none"), list, base }), false);
  });
});

describe("modules of python", () => {
  const rows: [name: string, folders: Readonly<Record<string, string>>, expected: boolean][] = [
    ["none among other files", { "/p": "a.txt src/", "/p/src": "b.txt" }, false],
    ["a file", { "/p": "a.txt json.py" }, true],
    ["a compiled file", { "/p": "a.txt x.so" }, true],
    ["a package", { "/p": "a.txt json/", "/p/json": "x __init__.py" }, true],
    ["a folder that ends like a package", { "/p": "a.txt json/", "/p/json": "x__init__." }, false],
    ["a folder that cannot be listed inside", { "/p": "a.txt json/" }, false],
    ["nothing at all", { "/p": "" }, true],
    ["a folder that cannot be listed", {}, true],
  ];
  for (const [name, folders, expected] of rows)
    it(`may be there: ${name}`, async () => assert.equal(await mayHoldModules(["/p"], listing(folders)), expected));

  it("are looked for in every folder, and only in folders", async () => {
    const list = listing({ "/p": "a", "/q": "x.py" });
    assert.equal(await mayHoldModules(["/p", "/q"], list), true);
    assert.equal(await mayHoldModules(["/p"], list), false);
    assert.equal(
      await mayHoldModules(["/p"], async (folder) =>
        folder === "/p" ? [{ name: "a", kind: "file" }] : [{ name: "__init__.py", kind: "file" }],
      ),
      false,
    );
  });
});
