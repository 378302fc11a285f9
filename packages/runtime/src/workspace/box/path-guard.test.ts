import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { guardPaths } from "./path-guard.ts";

const still = (work: () => Promise<void>): Promise<void> => work();

let folder: string;
let aside: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outrider-guard-"));
  aside = join(folder, "aside");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("guardPaths", () => {
  it("moves away what was not there before, and keeps two of the same name apart", async () => {
    const path = join(folder, ".mcp.json");
    for (const text of ["one", "two"]) {
      const guard = guardPaths([{ type: "missing", path }], aside);
      writeFileSync(path, text);
      assert.deepEqual(await guard.restore(still), [path]);
    }
    assert.equal(existsSync(path), false);
    const kept = readdirSync(aside).map((name) => readFileSync(join(aside, name), "utf8"));
    assert.deepEqual(kept, ["one", "two"]);
  });

  it("puts a link back that was replaced or removed", async () => {
    const path = join(folder, "hooks");
    symlinkSync("../mine", path);
    const guard = guardPaths([{ type: "link", path, target: "../mine" }], aside);
    rmSync(path);
    mkdirSync(path);
    assert.deepEqual([await guard.restore(still), readlinkSync(path)], [[path], "../mine"]);
    const again = guardPaths([{ type: "link", path, target: "../mine" }], aside);
    rmSync(path);
    assert.deepEqual([await again.restore(still), readlinkSync(path)], [[path], "../mine"]);
  });

  it("lets a repository be made where there was none, but no file or link in its place", async () => {
    const path = join(folder, ".git");
    const guard = () => guardPaths([{ type: "repository", path }], aside);
    assert.deepEqual(await guard().restore(still), []);
    const linked = guard();
    symlinkSync("/elsewhere", path);
    assert.deepEqual(await linked.restore(still), [path]);
    const written = guard();
    writeFileSync(path, "gitdir: /elsewhere");
    assert.deepEqual(await written.restore(still), [path]);
    assert.equal(existsSync(path), false);
  });

  it("takes only names that decide something, and the folder when nothing else is in it", async () => {
    const path = join(folder, ".agent");
    const guard = guardPaths([{ type: "names", path, names: /^settings/, known: new Set(["settings.old"]) }], aside);
    mkdirSync(path);
    for (const name of ["settings.json", "settings.old", "notes"]) writeFileSync(join(path, name), "");
    assert.deepEqual(
      [await guard.restore(still), readdirSync(path).sort()],
      [[join(path, "settings.json")], ["notes", "settings.old"]],
    );
  });

  it("never follows a link out of what it moves", async () => {
    const other = join(folder, "other");
    mkdirSync(other);
    writeFileSync(join(other, "file"), "mine");
    const path = join(folder, ".bashrc");
    const guard = guardPaths([{ type: "missing", path }], aside);
    symlinkSync(other, path);
    await guard.restore(still);
    assert.equal(readFileSync(join(other, "file"), "utf8"), "mine");
  });

  it("says while it watches that something was touched", async () => {
    const path = join(folder, ".mcp.json");
    const guard = guardPaths([{ type: "missing", path }], aside);
    writeFileSync(path, "");
    const keepAlive = setInterval(() => {}, 1000);
    if (!guard.signal.aborted) await new Promise((resolve) => guard.signal.addEventListener("abort", resolve));
    clearInterval(keepAlive);
    await guard.restore(still);
    assert.equal(guard.signal.aborted, true);
  });
});
