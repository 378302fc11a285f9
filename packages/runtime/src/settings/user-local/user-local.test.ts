import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readEnabledUserLocalMemoryItem, UserLocalMemory } from "./memory.ts";
import { runUserLocal } from "./run-user-local.ts";
import { checkUserLocalRoot, listUserLocalStorage } from "./storage.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-user-local-")));
after(() => {
  chmodSync(join(top, "locked"), 0o700);
  rmSync(top, { recursive: true, force: true });
});
const repository = join(top, "repo");
mkdirSync(join(repository, "sub"), { recursive: true });
mkdirSync(join(top, "home"));
mkdirSync(join(top, "locked"), { mode: 0o500 });
symlinkSync(repository, join(top, "link"));
symlinkSync(repository, join(top, "home", "linked"));
writeFileSync(join(top, "file"), "");

describe("where things are kept for the user alone", () => {
  const bad: readonly (readonly [root: string, why: RegExp])[] = [
    ["", /it is empty/],
    [".", /no absolute path/],
    ["some/where", /no absolute path/],
    [repository, /the repository itself/],
    [join(repository, "sub"), /inside of the repository/],
    [join(repository, "not-there-yet"), /inside of the repository/],
    [join(top, "link"), /the repository itself/],
    [join(top, "home/linked/deeper"), /inside of the repository/],
    [join(top, "file"), /is no folder/],
    [join(top, "file/below"), /is no folder/],
  ];
  for (const [root, why] of bad)
    it(`is not ${root.replace(top, "TOP") || "nowhere"}`, () =>
      assert.throws(() => checkUserLocalRoot({ root, repository }), why));

  it("is not where nothing can be written", { skip: process.getuid?.() === 0 }, () => {
    assert.throws(() => checkUserLocalRoot({ root: join(top, "locked/x"), repository }), /cannot be written to/);
  });

  it("may be a folder that is not there yet, and one with a name that only begins like the repository's", () => {
    assert.equal(checkUserLocalRoot({ root: join(top, "repo-2/.outrider"), repository }), join(top, "repo-2/.outrider"));
    assert.equal(checkUserLocalRoot({ root: join(top, "home"), repository: undefined }), join(top, "home"));
  });
});

describe("what is kept for the user alone", () => {
  const place = { root: join(top, "user/.outrider"), repository, now: () => Date.UTC(2026, 0, 2) };
  const memory = new UserLocalMemory(place);

  it("is set, listed, switched off and deleted, and never makes anything run", async () => {
    assert.deepEqual(memory.list(), []);
    const item = await memory.set({ category: "view-preference", key: "theme", value: { dark: true }, summary: "Dark" });
    const location = join(top, "user/.outrider/user-local/memory-projections/view-preference.theme.json");
    assert.deepEqual(item, {
      category: "view-preference",
      key: "theme",
      summary: "Dark",
      source: "user",
      createdAt: "2026-01-02T00:00:00.000Z",
      updatedAt: "2026-01-02T00:00:00.000Z",
      enabled: true,
      valueSummary: '{"dark":true}',
      scope: "user",
      location,
      displayRule: "display-and-navigation-only",
      canDisable: true,
      canDelete: true,
      commandExecutionEffect: "none",
    });
    assert.equal(statSync(location).mode & 0o077, 0);
    assert.deepEqual(memory.list(), [item]);
    assert.deepEqual(memory.readEnabled("view-preference", "theme"), { dark: true });
    const off = await memory.disable("view-preference", "theme");
    assert.deepEqual([off.enabled, off.canDisable], [false, false]);
    const wanted = { category: "view-preference", key: "theme" };
    assert.equal(readEnabledUserLocalMemoryItem(place, wanted), null);
    assert.deepEqual(memory.inspect("view-preference", "theme").value, { dark: true });
    memory.delete("view-preference", "theme");
    assert.equal(existsSync(location), false);
    assert.throws(() => memory.inspect("view-preference", "theme"), /There is no view-preference theme/);
    assert.equal(existsSync(join(repository, ".outrider")), false);
  });

  it("takes no orders but its own", async () => {
    for (const words of [
      "colours set view-preference a 1",
      "storage set view-preference a 1",
      "memory set view-preference a",
      "memory paint a b",
    ])
      await assert.rejects(runUserLocal(words.split(" "), place), { code: "usage", message: /^user-local takes storage list; / });
    assert.equal((await runUserLocal(["memory", "list"], place)).message, "Nothing is remembered for the user");
  });

  it("keeps the day it came when it is set again", async () => {
    await memory.set({ category: "inspection-choice", key: "a", value: 1 });
    const later = new UserLocalMemory({ ...place, now: () => Date.UTC(2026, 0, 3) });
    const again = await later.set({ category: "inspection-choice", key: "a", value: "x".repeat(200) });
    assert.deepEqual(
      [again.createdAt.slice(0, 10), again.updatedAt.slice(0, 10), again.valueSummary.length],
      ["2026-01-02", "2026-01-03", 80],
    );
  });

  it("takes no other category, no name that is a path, and nothing huge", async () => {
    await assert.rejects(memory.set({ category: "command", key: "a", value: 1 }), /is no category; there are view-preference/);
    for (const key of ["../x", "a/b", "", "..", "a..b"])
      await assert.rejects(memory.set({ category: "view-preference", key, value: 1 }), /is no key/, key);
    await assert.rejects(
      memory.set({ category: "view-preference", key: "a", value: "x".repeat(20_000) }),
      /may have 16384 characters/,
    );
  });

  it("leaves alone what is no item", () => {
    const folder = join(top, "user/.outrider/user-local/memory-projections");
    writeFileSync(join(folder, "junk.json"), "{");
    writeFileSync(
      join(folder, "view-preference.other.json"),
      JSON.stringify({ category: "view-preference", key: "else", enabled: true }),
    );
    assert.deepEqual(
      memory.list().map(({ key }) => key),
      ["a"],
    );
  });

  it("is listed by category", () => {
    const { categories, activeRepository } = listUserLocalStorage(place);
    assert.equal(activeRepository, repository);
    assert.deepEqual(
      categories.map(({ category, exists, items, canDelete }) => [category, exists, items.length, canDelete]),
      [
        ["preferences", false, 0, false],
        ["view-state", false, 0, false],
        ["memory-projections", true, 3, true],
        ["task-associations", false, 0, false],
        ["workflow-metadata", false, 0, false],
        ["inspection-index", false, 0, false],
      ],
    );
  });

  it("is looked after in words", async () => {
    const run = async (words: string) => await runUserLocal(words.split(" "), place);
    assert.equal(
      (await run("memory set display-preference width 80 --summary Wide --source test")).message,
      "display-preference width = 80: Wide",
    );
    assert.equal((await run("memory disable display-preference width")).message, "display-preference width = 80 (off): Wide");
    assert.match((await run("memory list --format json")).message, /width = 80 \(off\)/);
    assert.equal((await run("memory list --format json")).format, "json");
    assert.match((await run("storage list")).message, /memory-projections: \d in /);
    assert.equal((await run("memory delete display-preference width")).message, "display-preference width is deleted");
    for (const words of [
      "",
      "memory",
      "storage",
      "memory bogus a b",
      "memory set view-preference a",
      "memory list x",
      "memory inspect view-preference a b",
    ]) {
      if (words === "memory" || words === "storage") continue;
      await assert.rejects(run(words), /user-local takes|There is no/, words);
    }
    await assert.rejects(run("memory list --format yaml"), /--format is json or text/);
  });
});
