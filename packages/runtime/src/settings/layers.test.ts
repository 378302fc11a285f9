import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { findProjectRoot, loadLayers, parseSettingSources, type SettingsLayer, type SettingsPlace } from "./layers.ts";

let top: string;
let place: SettingsPlace;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-layers-")));
  place = { outriderHome: join(top, "home/.outrider"), userHome: join(top, "home"), root: join(top, "work/project") };
  mkdirSync(place.root, { recursive: true });
  mkdirSync(place.userHome);
});
afterEach(() => {
  rmSync(top, { recursive: true, force: true });
});

function write(path: string, text = "{}"): string {
  const file = join(top, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function names(layers: readonly SettingsLayer[]): string[] {
  return layers.map(({ scope, dialect, path }) => `${scope} ${dialect} ${path.replace(`${top}/`, "")}`);
}

const all = [
  "home/.outrider/settings.json",
  "home/.outrider/settings.local.json",
  "home/.claude/settings.json",
  "home/.claude/settings.local.json",
  "work/project/.outrider/settings.json",
  "work/project/.outrider/settings.local.json",
  "work/project/.claude/settings.json",
  "work/project/.claude/settings.local.json",
];

describe("loadLayers", () => {
  it("takes what the settings around a project forbid, and nothing else of them", async () => {
    const top = mkdtempSync(join(tmpdir(), "outrider-outer-"));
    try {
      const inner = join(top, "packages/a");
      for (const folder of [join(top, ".git"), join(top, ".claude"), join(inner, ".claude")])
        mkdirSync(folder, { recursive: true });
      const outer = {
        permissions: { deny: ["Read(./.env)", "Bash(rm:*)"], ask: ["Edit(/infra/**)"], allow: ["Bash"] },
        env: { A: "1" },
      };
      writeFileSync(join(top, ".claude/settings.json"), JSON.stringify(outer));
      writeFileSync(join(inner, ".claude/settings.json"), JSON.stringify({ permissions: { deny: ["WebFetch"] } }));
      const layers = await loadLayers({ outriderHome: join(top, "no"), userHome: "/nowhere", root: inner });
      assert.deepEqual(
        layers.map(({ values }) => values),
        [
          { permissions: { deny: [`Read(/${top}/**/.env)`, "Bash(rm:*)"], ask: [`Edit(/${top}/infra/**)`] } },
          { permissions: { deny: ["WebFetch"] } },
        ],
      );
    } finally {
      rmSync(top, { recursive: true, force: true });
    }
  });

  it("reads the user's files, then the project's, Outrider's before Claude Code's, then --settings", async () => {
    for (const path of all.toReversed()) write(path, JSON.stringify({ model: path }));
    const layers = await loadLayers({ ...place, inline: '{"model": "flag"}', inlineName: "--settings" });
    assert.deepEqual(names(layers), [
      "user outrider home/.outrider/settings.json",
      "user outrider home/.outrider/settings.local.json",
      "user claude home/.claude/settings.json",
      "user claude home/.claude/settings.local.json",
      "project outrider work/project/.outrider/settings.json",
      "local outrider work/project/.outrider/settings.local.json",
      "project claude work/project/.claude/settings.json",
      "local claude work/project/.claude/settings.local.json",
      "flag outrider --settings",
    ]);
    assert.deepEqual(
      layers.map(({ values, lineOf }) => [values["model"], lineOf(["model"])]),
      [...all.map((path) => [path, 1]), ["flag", undefined]],
    );
  });

  it("is empty where there is nothing", async () => {
    assert.deepEqual(await loadLayers(place), []);
    write("work/project/.claude", "a file where a folder is looked for");
    assert.deepEqual(await loadLayers(place), []);
  });

  it("reads the sources that are asked for, and --settings always", async () => {
    for (const path of all) write(path);
    const scopes = async (sources: string, inline?: string): Promise<string[]> => {
      const layers = await loadLayers({ ...place, sources: parseSettingSources(sources), ...(inline && { inline }) });
      return layers.map(({ scope }) => scope);
    };
    assert.deepEqual(await scopes("user"), ["user", "user", "user", "user"]);
    assert.deepEqual(await scopes(" local, project"), ["project", "local", "project", "local"]);
    assert.deepEqual(await scopes("", "{}"), ["flag"]);
    assert.throws(() => parseSettingSources("user,projects"), { code: "usage" });
  });

  it("counts the user's file once and as the user's when the project is the home folder, or leads there", async () => {
    write("home/.claude/settings.json");
    write("home/.outrider/settings.json");
    const user = ["user outrider home/.outrider/settings.json", "user claude home/.claude/settings.json"];
    assert.deepEqual(names(await loadLayers({ ...place, root: place.userHome })), user);
    assert.deepEqual(names(await loadLayers({ ...place, root: place.userHome, sources: ["project", "local"] })), []);
    mkdirSync(join(place.root, ".claude"));
    symlinkSync(join(place.userHome, ".claude/settings.json"), join(place.root, ".claude/settings.json"));
    assert.deepEqual(names(await loadLayers(place)), user);
  });

  it("says of an empty file that it is, and takes nothing from it", async () => {
    const file = write("home/.outrider/settings.json", " \n");
    const [layer] = await loadLayers(place);
    assert.deepEqual([layer?.values, layer?.note], [{}, `${file} is empty`]);
  });

  it("reads --settings from a file, through links", async () => {
    symlinkSync(write("elsewhere.json", '\ufeff{"model": "m"}'), join(top, "link.json"));
    const [layer] = await loadLayers({ ...place, inline: join(top, "link.json") });
    assert.deepEqual([layer?.scope, layer?.values, layer?.lineOf(["model"])], ["flag", { model: "m" }, 1]);
  });

  it("refuses at once what is no settings file: a folder, a pipe, a device, too much, no text, a link to nowhere", async () => {
    const file = join(place.root, ".outrider/settings.json");
    const rows: [make: () => unknown, words: string][] = [
      [() => mkdirSync(file), "is a folder"],
      [() => execFileSync("mkfifo", [file]), "is no ordinary file"],
      [() => symlinkSync("/dev/zero", file), "is no ordinary file"],
      [() => writeFileSync(file, `{"language": "${"a".repeat(1024 * 1024)}"}`), "is larger than 1 MB, too large for settings"],
      [() => writeFileSync(file, Buffer.from('{"model": "\xff"}', "latin1")), "is not UTF-8 text"],
      [() => symlinkSync("nowhere", file), "cannot be read: ENOENT"],
      [() => symlinkSync("settings.json", file), "may hold settings and cannot be looked at: ELOOP"],
      [() => writeFileSync(file, "{"), "is not valid JSON: line 1, column 2: expected"],
    ];
    for (const [make, words] of rows) {
      rmSync(dirname(file), { recursive: true, force: true });
      mkdirSync(dirname(file));
      make();
      await assert.rejects(loadLayers(place), (error: Error & { code?: string }) => {
        assert.deepEqual([error.code, error.message.slice(0, file.length + 1 + words.length)], ["config", `${file} ${words}`]);
        return true;
      });
    }
  });

  it("reads a file of exactly one megabyte", async () => {
    const empty = '{"language": ""}';
    write("work/project/.claude/settings.json", empty.replace('""', `"${"a".repeat(1024 * 1024 - empty.length)}"`));
    assert.equal((await loadLayers(place)).length, 1);
  });

  it("refuses a million keys by their size", async () => {
    const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(",");
    write("work/project/.claude/settings.json", `{${keys}}`);
    await assert.rejects(loadLayers(place), { code: "config", message: /larger than 1 MB/ });
  });

  it("does not start when a folder of settings cannot be looked into, unless its source is left out", async () => {
    symlinkSync(".claude", join(place.userHome, ".claude"));
    await assert.rejects(loadLayers(place), {
      code: "config",
      message: /\.claude may hold settings and cannot be looked at: ELOOP/,
    });
    assert.deepEqual(await loadLayers({ ...place, sources: ["project"] }), []);
  });
});

describe("findProjectRoot", () => {
  it("is the nearest folder with settings or a repository, however deep a run starts", () => {
    const deep = join(place.root, "src/deep");
    mkdirSync(deep, { recursive: true });
    assert.equal(findProjectRoot(deep, place.userHome), deep);
    for (const marker of [".git", ".outrider", ".claude"]) {
      mkdirSync(join(place.root, marker));
      assert.equal(findProjectRoot(deep, place.userHome), place.root, marker);
      rmSync(join(place.root, marker), { recursive: true });
    }
    write("work/project/.git", "gitdir: elsewhere");
    mkdirSync(join(top, "work/.claude"));
    assert.equal(findProjectRoot(deep, place.userHome), place.root, "a linked worktree is one too");
  });

  it("does not make a project of everything below the home folder", () => {
    const folder = join(place.userHome, "notes/today");
    mkdirSync(folder, { recursive: true });
    mkdirSync(join(place.userHome, ".claude"));
    mkdirSync(join(top, ".git"));
    symlinkSync(place.userHome, join(top, "home-link"));
    for (const home of [place.userHome, join(top, "home-link")]) {
      assert.equal(findProjectRoot(folder, home), folder);
      assert.equal(findProjectRoot(place.userHome, home), place.userHome);
    }
  });
});
