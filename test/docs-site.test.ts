import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { after, before, describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();

describe("the site of the documents", () => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-site-"));
  const files = new Map<string, string>();
  before(() => {
    execFileSync(process.execPath, [join(root, "scripts/build-docs.mjs"), folder], { stdio: "pipe" });
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
      if (statSync(join(folder, name)).isFile()) files.set(name, readFileSync(join(folder, name), "utf8"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const pages = (): [string, string][] => [...files].filter(([name]) => name.endsWith(".html"));

  it("has a page for every document, and every guide is in the list of some reader", () => {
    const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
    const index = files.get("index.html") ?? "";
    const lost = guides.filter((name) => !index.includes(`href="docs/${name.replace(/\.md$/, ".html")}"`));
    assert.deepEqual(lost, []);
    for (const reader of ["ci", "sdk", "library", "operator", "security"])
      assert.ok(index.includes(`id="for-${reader}"`), reader);
  });

  it("has no link that leads nowhere: pages, anchors, pictures", () => {
    const dead = pages().flatMap(([page, html]) =>
      [...html.matchAll(/(?:href|src)="([^"]+)"/g)].flatMap(([, target = ""]) => {
        if (/^(https?|mailto):/.test(target)) return [];
        const [path = "", anchor] = target.replaceAll("&amp;", "&").split("#");
        const found = path === "" ? page : posix.normalize(posix.join(posix.dirname(page), path));
        const text = files.get(found);
        const isThere = text !== undefined && (anchor === undefined || text.includes(` id="${decodeURIComponent(anchor)}"`));
        return isThere ? [] : [`${page}: ${target}`];
      }),
    );
    assert.deepEqual(dead, []);
  });

  it("loads nothing from anywhere else, and runs nothing but its own script", () => {
    for (const [page, html] of pages()) {
      assert.match(html, /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self';/, page);
      assert.doesNotMatch(html, /<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//, page);
      assert.equal([...html.matchAll(/<script/g)].length, 1, page);
      assert.doesNotMatch(html, /<[^>]+\son\w+=|<[^>]+\sstyle=/, page);
    }
  });

  it("has an index of all that can be searched for", () => {
    const entries: { url: string; title: string; text: string }[] = JSON.parse(files.get("search.json") ?? "[]");
    assert.ok(entries.length > 500, `${entries.length} sections`);
    for (const { url } of entries) assert.ok(files.has(url.replace(/#.*$/, "")), url);
    assert.ok(entries.some(({ url, text }) => url === "docs/permissions.html" && text.includes("one decision is made")));
  });
});

it("the README names every variable that --help names", () => {
  const help = execFileSync(process.execPath, [join(root, "packages/cli/bin/outrider.js"), "--help"], { encoding: "utf8" });
  const named = /\nEnvironment:\n([\s\S]*?)\n\n/.exec(help)?.[1]?.match(/\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b/g) ?? [];
  const readme = readFileSync(join(root, "README.md"), "utf8");
  assert.ok(named.length > 8, named.join(", "));
  assert.deepEqual(
    named.filter((name) => !readme.includes(`\`${name}\``)),
    [],
  );
});

describe("the picture in the README", () => {
  it("is what the command's own narrator says of the recorded session", () => {
    const folder = mkdtempSync(join(tmpdir(), "outrider-picture-"));
    try {
      execFileSync(process.execPath, [join(root, "scripts/picture.mjs"), "--to", join(folder, "run.svg")], { stdio: "pipe" });
      const [made, kept] = [join(folder, "run.svg"), join(root, "docs/pictures/run.svg")].map((path) =>
        readFileSync(path, "utf8"),
      );
      assert.equal(made, kept, "where what a run prints has changed: npm run picture");
      assert.match(kept ?? "", /Bash git push/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
