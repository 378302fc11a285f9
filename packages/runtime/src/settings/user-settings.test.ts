import assert from "node:assert/strict";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { saveProfile } from "./edit-profiles.ts";
import { loadCatalogOverride, loadUserSettings } from "./user-settings.ts";

let home: string;
let path: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "outrider-settings-"));
  path = join(home, "settings.json");
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const nothing = { currentProvider: undefined, providers: {}, provider: undefined };
const work = { type: "openai", model: "gpt-5.5", options: { user: "me" } };

describe("loadUserSettings", () => {
  it("is empty where there is no file, no folder, or a file in the folder's place", async () => {
    await writeFile(join(home, "file"), "");
    for (const folder of [home, join(home, "gone"), join(home, "file")])
      assert.deepEqual(await loadUserSettings(folder), nothing);
  });

  it("reads the file, with a byte order mark or without", async () => {
    const settings = { currentProvider: "work", providers: { work } };
    for (const mark of ["", "\ufeff"]) {
      await writeFile(path, mark + JSON.stringify(settings));
      assert.deepEqual(await loadUserSettings(home), { ...settings, provider: undefined });
    }
  });

  const broken: [what: string, text: string, words: string][] = [
    ["an empty file", "", "is not valid JSON: line 1, column 1: expected a value"],
    [
      "a file that ends too soon",
      '{\n  "providers": {',
      "is not valid JSON: line 2, column 17: expected a name in double quotes",
    ],
    [
      "a comma too many",
      '{\n  "currentProvider": "a",\n}\n',
      "is not valid JSON: line 3, column 1: expected a name in double quotes after the comma",
    ],
    ["a comma too few", '{\n  "providers": {}\n  "provider": {}\n}', 'is not valid JSON: line 3, column 3: expected "," or "}"'],
    ["a list that is not closed", '{"providers": [1, 2', 'is not valid JSON: line 1, column 20: expected "," or "]"'],
    ["a colon too few", '{"providers" {}}', 'is not valid JSON: line 1, column 14: expected ":"'],
    ["a comment", "{\n  // mine\n}", "is not valid JSON: line 2, column 3: comments are not allowed"],
    ["single quotes", "{'providers': {}}", "is not valid JSON: line 1, column 2: expected a name in double quotes"],
    [
      "a text over two lines",
      '{"currentProvider": "a\nb"}',
      "is not valid JSON: line 1, column 21: this text is not closed, or holds a character that must be escaped",
    ],
    ["a bare word", '{"currentProvider": work}', "is not valid JSON: line 1, column 21: expected a value"],
    ["two objects", "{}\n{}", "is not valid JSON: line 2, column 1: nothing may follow the object"],
    ["a list", "[]", "must hold a JSON object"],
    ["null", "null", "must hold a JSON object"],
    ["a text", '"settings"', "must hold a JSON object"],
  ];
  for (const [what, text, words] of broken) {
    it(`refuses ${what} in one line that names the file and the place`, async () => {
      await writeFile(path, text);
      await assert.rejects(loadUserSettings(home), { code: "config", message: `${path} ${words}` });
    });
  }

  it("refuses a setting that does not exist, and one that is wrong, by file and line", async () => {
    const rows: [text: string, words: string][] = [
      ['{\n  "provders": {}\n}', ':2: there is no setting "provders"; did you mean providers?'],
      ['{\n"providers": {},\n"permissions": {"deny": [\n"Bash("]}}', ":4: permissions.deny.0: Not a permission rule"],
    ];
    for (const [text, words] of rows) {
      await writeFile(path, text);
      await assert.rejects(loadUserSettings(home), (error: Error & { code?: string }) => {
        assert.deepEqual([error.code, error.message.slice(0, path.length + words.length)], ["config", path + words]);
        return true;
      });
    }
  });

  it("does not mind the settings it is not read for", async () => {
    await writeFile(path, JSON.stringify({ permissions: { deny: ["Bash(rm:*)"] }, sandbox: "require", providers: { work } }));
    assert.deepEqual(await loadUserSettings(home), { ...nothing, providers: { work } });
  });

  it("never repeats what a broken file says: it may be a key", async () => {
    for (const text of [`{"apiKey": 'sk-secret'}`, `{"apiKey": sk-secret}`, `{"apiKey": "sk-secret" "x"}`, `{"a": "sk-secret`]) {
      await writeFile(path, text);
      await assert.rejects(loadUserSettings(home), (error: Error) => !/sk-|secret/.test(error.message));
    }
  });

  it("says that a file cannot be read", async () => {
    await mkdir(path);
    await assert.rejects(loadUserSettings(home), (error: Error) => error.message.startsWith(`${path} cannot be read: `));
  });
});

describe("loadCatalogOverride", () => {
  it("is undefined without a file or with an empty object", async () => {
    assert.equal(await loadCatalogOverride(home), undefined);
    await writeFile(join(home, "models.json"), "{}");
    assert.equal(await loadCatalogOverride(home), undefined);
  });

  it("reads what the user knows", async () => {
    const models = [{ provider: "ollama", model: "qwen3:8b", contextWindow: 40_960, price: { input: 0, output: 0 } }];
    await writeFile(join(home, "models.json"), JSON.stringify({ models }));
    assert.deepEqual(await loadCatalogOverride(home), { models });
  });

  it("names the file when it is wrong", async () => {
    const file = join(home, "models.json");
    for (const [text, words] of [
      ["{", /is not valid JSON: line 1, column 2/],
      ['{"models": {}}', /models must be a list/],
      ['{"models": [{"provider": "x"}]}', /models\[0\]\.model must be a text/],
    ] as const) {
      await writeFile(file, text);
      await assert.rejects(loadCatalogOverride(home), (error: Error & { code?: string }) => {
        assert.deepEqual([error.code, error.message.startsWith(file)], ["config", true]);
        assert.match(error.message, words);
        return true;
      });
    }
  });
});

describe("saveProfile", () => {
  const entry = { key: "work", profile: work, makeCurrent: true };

  it("makes folder and file for the owner alone, and leaves nothing else behind", async () => {
    const folder = join(home, "new", "home");
    assert.equal(await saveProfile(folder, entry), join(folder, "settings.json"));
    assert.deepEqual(await loadUserSettings(folder), { currentProvider: "work", providers: { work }, provider: undefined });
    assert.deepEqual(
      [(await stat(folder)).mode & 0o777, (await stat(join(folder, "settings.json"))).mode & 0o777, await readdir(folder)],
      [0o700, 0o600, ["settings.json"]],
    );
  });

  it("keeps the other settings, and takes away what others may read", async () => {
    const before = { currentProvider: "home", providers: { home: { type: "ollama", model: "m" } }, provider: { name: "gemini" } };
    await writeFile(path, JSON.stringify(before));
    await chmod(path, 0o644);
    await saveProfile(home, { ...entry, makeCurrent: false });
    assert.deepEqual(JSON.parse(await readFile(path, "utf8")), { ...before, providers: { ...before.providers, work } });
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  it("replaces a profile of the same key as a whole", async () => {
    await saveProfile(home, entry);
    await saveProfile(home, { key: "work", profile: { type: "gemini" }, makeCurrent: false });
    assert.deepEqual(await loadUserSettings(home), {
      currentProvider: "work",
      providers: { work: { type: "gemini" } },
      provider: undefined,
    });
  });

  it("writes through a link", async () => {
    const elsewhere = join(home, "dotfiles.json");
    await writeFile(elsewhere, "{}");
    await symlink(elsewhere, path);
    await saveProfile(home, entry);
    assert.ok((await lstat(path)).isSymbolicLink());
    assert.deepEqual(JSON.parse(await readFile(elsewhere, "utf8")), { currentProvider: "work", providers: { work } });
  });

  it("leaves a file alone that it does not understand, and writes none that could not be read again", async () => {
    for (const text of ["{", '{"providers": []}', '{"provders": {}}']) {
      await writeFile(path, text);
      await assert.rejects(saveProfile(home, entry), { code: "config" });
      assert.equal(await readFile(path, "utf8"), text);
    }
    await rm(path);
    await assert.rejects(saveProfile(home, { ...entry, profile: { type: "opnai" } }), { code: "config" });
    assert.deepEqual(await readdir(home), []);
  });

  it("names the file that cannot be written", async () => {
    await writeFile(join(home, "file"), "");
    await assert.rejects(saveProfile(join(home, "file"), entry), (error: Error & { code?: string }) => {
      assert.equal(error.code, "storage-failed");
      assert.match(error.message, /file\/settings\.json cannot be written: /);
      return true;
    });
  });
});
