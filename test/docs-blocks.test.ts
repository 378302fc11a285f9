import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { transformSync } from "esbuild";
import { parseAllDocuments } from "yaml";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();

/** Blocks that are no whole text of their language, by document and how they begin: why. */
const excused: Readonly<Record<string, string>> = {};

type Block = { readonly document: string; readonly line: number; readonly language: string; readonly text: string };

const documents = [
  ...["README.md", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "REVIEW.md", "bench/README.md"],
  ...["docs", "examples", "integrations", "packages/cli", "packages/runtime"].flatMap(markdownBelow),
];
const blocks = documents.flatMap(blocksOf);

/** What each language's own parser says of a text; nothing when it is one. */
const parsers: Readonly<Record<string, (text: string) => string | undefined>> = {
  ts: (text) =>
    complaint(() => transformSync(declared(text), { loader: "ts", format: "esm", target: "es2023", logLevel: "silent" })),
  js: (text) => complaint(() => transformSync(text, { loader: "js", format: "esm", target: "es2023", logLevel: "silent" })),
  json: (text) => complaint(() => JSON.parse(text)),
  jsonc: (text) => complaint(() => transformSync(`(${text})`, { loader: "js", logLevel: "silent" })),
  jsonl: (text) =>
    complaint(() =>
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ),
  yaml: (text) => parseAllDocuments(text).flatMap(({ errors }) => errors.map(({ message }) => message))[0],
  sh: shell,
  bash: shell,
  console: (text) => shell(commandsOf(text)),
};

describe("every block of code in the documents", () => {
  it("is in a language that this test knows, or in one that has no parser here", () => {
    const known = new Set([
      ...Object.keys(parsers),
      "",
      "text",
      "ini",
      "nginx",
      "caddyfile",
      "markdown",
      "md",
      "python",
      "walks",
      "diff",
      "html",
      "groovy",
    ]);
    assert.deepEqual(
      blocks
        .filter(({ language }) => !known.has(language))
        .map(({ document, line, language }) => `${document}:${line} ${language}`),
      [],
    );
  });

  for (const language of Object.keys(parsers)) {
    const own = blocks.filter((block) => block.language === language);
    if (own.length === 0) continue;
    it(`parses: ${own.length} of ${language}`, () => {
      const wrong = own.flatMap((block) => {
        const error = excuse(block) === undefined ? parsers[language]?.(block.text) : undefined;
        return error === undefined ? [] : [`${block.document}:${block.line}: ${error}`];
      });
      assert.deepEqual(wrong, []);
    });
  }

  it("is excused only as long as it is there, and does not parse", () => {
    const stale = Object.keys(excused).filter(
      (key) => !blocks.some((block) => excuse(block) === key && parsers[block.language]?.(block.text) !== undefined),
    );
    assert.deepEqual(stale, []);
  });
});

function excuse({ document, text }: Block): string | undefined {
  return Object.keys(excused).find((key) => key.startsWith(`${document}: `) && text.startsWith(key.slice(document.length + 2)));
}

function blocksOf(document: string): Block[] {
  const text = readFileSync(join(root, document), "utf8");
  return [...text.matchAll(/^( *)```([\w-]*)[^\n]*\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [, indent = "", language = "", body = ""] = match;
    const line = text.slice(0, match.index).split("\n").length;
    return { document, line, language, text: body.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
  });
}

function markdownBelow(folder: string): string[] {
  const isOwn = (name: string) => name.endsWith(".md") && !/(^|\/)(node_modules|dist|src)\//.test(name);
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter(isOwn);
  // Packages hold copies of what is looked at where it is written.
  const isCopy = (name: string) => folder.startsWith("packages/") && /^(docs|examples)\/|^CHANGELOG/.test(name);
  return names.filter((name) => !isCopy(name)).map((name) => join(folder, name));
}

/** Lines behind a `$`, with those that they go on in. */
function commandsOf(text: string): string {
  const lines = text.split("\n");
  return lines
    .filter((line, at) => line.startsWith("$ ") || lines[at - 1]?.endsWith("\\"))
    .map((line) => line.replace(/^\$ /, ""))
    .join("\n");
}

/** The reference shows constants by their type, without a value. */
function declared(text: string): string {
  return text.replace(/^const (\w+: [^=]*;)$/gm, "declare const $1");
}

function shell(text: string): string | undefined {
  const { status, stderr } = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
  return status === 0 ? undefined : stderr.trim();
}

function complaint(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.split("\n").slice(0, 2).join(" ") : String(error);
  }
}
