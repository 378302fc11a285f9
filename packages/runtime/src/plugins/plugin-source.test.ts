import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { checkNamedPlace } from "./named-place.ts";
import { checkUrl, describeSource, parseSource, type PluginSource, toSource } from "./plugin-source.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const git = (url: string, more: object = {}) => ({ type: "git", url, ref: undefined, sha: undefined, path: undefined, ...more });

describe("a source as people write it", () => {
  const taken: [string, object][] = [
    [".", { type: "folder", path: "/w" }],
    ["./a/b", { type: "folder", path: "/w/a/b" }],
    ["../a", { type: "folder", path: "/a" }],
    ["/a.zip", { type: "archive", location: "/a.zip" }],
    ["/a.tar.gz", { type: "archive", location: "/a.tar.gz" }],
    ["/m.json", { type: "file", location: "/m.json" }],
    ["owner/repo", git("https://github.com/owner/repo.git")],
    ["owner/repo.git#v1", git("https://github.com/owner/repo.git", { ref: "v1" })],
    ["https://e.com/x.git#a/b", git("https://e.com/x.git", { ref: "a/b" })],
    ["https://e.com/x.tgz", { type: "archive", location: "https://e.com/x.tgz" }],
    ["https://e.com/marketplace.json", { type: "file", location: "https://e.com/marketplace.json" }],
    ["http://127.0.0.1:1/x.zip", { type: "archive", location: "http://127.0.0.1:1/x.zip" }],
    ["file:///srv/x.zip", git("file:///srv/x.zip")],
  ];
  for (const [text, source] of taken) it(`${text} is taken`, () => assert.deepEqual(parseSource(text, "/w"), source));

  for (const text of [
    "",
    "word",
    "-x",
    "a b/c",
    "https://e.com/a b",
    "https://e.com#a#b",
    "https://u@e.com/x",
    "git://e.com/x",
    "a/b#-x",
    "a/b#x@{1}",
    "http://localhost.e.com/x",
  ])
    it(`${JSON.stringify(text)} is refused`, () => assert.throws(() => parseSource(text, "/w"), /is refused/));
});

it("a folder that is there is meant, and not a repository of its name", () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "outrider-source-")));
  mkdirSync(join(cwd, "hs/c1"), { recursive: true });
  assert.deepEqual(parseSource("hs/c1", cwd), { type: "folder", path: join(cwd, "hs/c1") });
  assert.deepEqual(parseSource("hs/c1#main", cwd), git("https://github.com/hs/c1.git", { ref: "main" }));
  rmSync(cwd, { recursive: true });
});

describe("what a marketplace may name", () => {
  const at = (url: string): PluginSource => ({ type: "git", url });
  const rows: readonly (readonly [string, PluginSource, boolean])[] = [
    ["https://10.1.2.3/x.git", at("https://example.com/m.git"), false],
    ["https://169.254.169.254/x.git", at("https://example.com/m.git"), false],
    ["https://[fd00::1]/x.git", at("https://example.com/m.git"), false],
    ["https://git.corp/x.git", at("https://example.com/m.git"), false],
    ["https://git.corp/x.git", at("https://git.corp/m.git"), true],
    ["http://127.0.0.1:9/x.git", at("https://example.com/m.git"), false],
    ["http://127.0.0.1:9/x.git", at("http://127.0.0.1:8/m.git"), true],
    ["file:///srv/x.git", at("https://example.com/m.git"), false],
    ["file:///srv/x.git", { type: "folder", path: "/srv/m" }, true],
    ["https://192.168.1.1/x.git", { type: "folder", path: "/srv/m" }, false],
    ["https://93.184.216.34/x.git", at("https://example.com/m.git"), true],
  ];
  for (const [url, from, taken] of rows)
    it(`${url} of ${describeSource(from)} is ${taken ? "taken" : "refused"}`, async () => {
      const checked = checkNamedPlace({ type: "git", url }, from);
      if (taken) await checked;
      else await assert.rejects(checked, /is refused/);
    });
});

describe("a source as a marketplace has it", () => {
  const ground = { base: "/m", local: false };
  const taken: [unknown, object][] = [
    ["./p", { type: "folder", path: "/m/p" }],
    [
      { source: "github", repo: "a/b", sha: commit, ref: "main" },
      git("https://github.com/a/b.git", { sha: commit, ref: "main" }),
    ],
    [{ source: "git-subdir", url: "https://e.com/x.git", path: "p/q" }, git("https://e.com/x.git", { path: "p/q" })],
    [{ source: "url", url: "https://e.com/x.git" }, git("https://e.com/x.git")],
    [
      { source: "url", url: "https://e.com/x.json" },
      { type: "file", location: "https://e.com/x.json" },
    ],
    [
      { source: "archive", url: "https://e.com/x", sha256: "ab" },
      { type: "archive", location: "https://e.com/x", sha256: "ab" },
    ],
    [
      { source: "npm", package: "@a/b", version: "1.0.0" },
      { type: "npm", name: "@a/b", version: "1.0.0", registry: "https://registry.npmjs.org" },
    ],
  ];
  for (const [value, source] of taken)
    it(`${JSON.stringify(value)} is taken`, () => assert.deepEqual(toSource(value as never, ground), source));

  it("names folders of this machine only where its user wrote it", () => {
    const value = { source: "directory", path: "/p" };
    assert.deepEqual(toSource(value, { local: true }), { type: "folder", path: "/p" });
    assert.throws(() => toSource(value, ground), /named by its user only/);
    assert.throws(() => toSource({ ...value, path: "p" }, { local: true }), /named by its user only/);
    assert.throws(() => toSource("./p", { local: true }), /no path below the marketplace/);
  });

  it("is told what it lacks", () => {
    assert.throws(() => toSource({ source: "github" }, ground), /it needs repo/);
    assert.throws(() => toSource({ source: "git", url: 7 }, ground), /url must be a text/);
    assert.throws(() => toSource({ source: "npm", package: "a", version: "1 || 2" }, ground), /no version or tag/);
  });
});

it("an address is https, or http on this machine", () => {
  for (const text of ["https://e.com/", "http://localhost:8/x", "http://[::1]/x"]) assert.equal(checkUrl(text).href, text);
  for (const text of ["http://e.com/", "file:///x", "https://e.com/\\x", "ext::x"])
    assert.throws(() => checkUrl(text), /is refused/);
});

it("a source is shown on one line", () => {
  const shown: [PluginSource, string][] = [
    [{ type: "git", url: "https://e.com/x.git", ref: "main", sha: commit, path: "p" }, `https://e.com/x.git#${commit} (p)`],
    [{ type: "git", url: "https://e.com/x.git" }, "https://e.com/x.git"],
    [{ type: "npm", name: "a", version: "1", registry: "r" }, "npm:a@1"],
    [{ type: "npm", name: "a", registry: "r" }, "npm:a"],
  ];
  for (const [source, text] of shown) assert.equal(describeSource(source), text);
});
