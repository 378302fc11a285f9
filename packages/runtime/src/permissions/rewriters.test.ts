import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf, show } from "../../../../test/support/shell-lines.ts";
import { rewrittenBy } from "./rewriters.ts";

describe("files that a program changes without being told their names", () => {
  const node = "package.json package-lock.json npm-shrinkwrap.json node_modules";
  const rows: [line: string, named: string, below: string, endings?: string][] = [
    ["npm install", node, ""],
    ["npm i x", node, ""],
    ["npm --silent install", node, ""],
    ["npm --version", "", ""],
    ["npm ls", "", ""],
    ["npm list --all", "", ""],
    ["npm audit", "", ""],
    ["npm audit fix", node, ""],
    ["cat x", "", ""],
    ["toString x", "", ""],
    ["prettier --write src", "", "src"],
    ["prettier --write", "", "."],
    ["prettier src", "", ""],
    ["biome check --write src", "", "src"],
    ["ruff format", "", ".", "py pyi ipynb"],
    ["ruff format --check", "", ""],
    ["gofmt -w 'a/*.go'", "", "a/", "go"],
    ["go fmt ./...", "", ".", "go"],
    ["go fmt a/b/...", "", "a/b", "go"],
    ["black a.py", "", "a.py", "py pyi ipynb"],
    ["black --check a.py", "", ""],
    ["cargo fmt", "", ".", "rs"],
    ["cargo fix", "Cargo.toml Cargo.lock target", ".", "rs"],
    ["eslint --fix '*.ts'", "", "."],
  ];
  for (const [line, named, below, endings] of rows)
    it(`${line}: ${named || below || "none"}`, () => {
      const found = rewrittenBy(programOf(line));
      assert.deepEqual([found.named.join(" "), show(found.below), found.endings?.join(" ")], [named, below, endings]);
    });
});
