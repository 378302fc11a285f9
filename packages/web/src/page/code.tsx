import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import type { ComponentChildren } from "preact";
import { plain } from "./text.tsx";

const languages = { bash, css, go, java, json, python, ruby, rust, sql, typescript, xml, yaml };
const lowlight = createLowlight(languages);

/** Other names of these, and the ends of file names. Languages of one family are near enough to be read. */
const names: Readonly<Record<string, keyof typeof languages>> = {
  ...{
    ts: "typescript",
    tsx: "typescript",
    js: "typescript",
    jsx: "typescript",
    mjs: "typescript",
    cjs: "typescript",
    mts: "typescript",
    javascript: "typescript",
  },
  ...{
    sh: "bash",
    zsh: "bash",
    shell: "bash",
    console: "bash",
    py: "python",
    rb: "ruby",
    rs: "rust",
    yml: "yaml",
    html: "xml",
    svg: "xml",
    vue: "xml",
  },
  ...{
    kt: "java",
    cs: "java",
    c: "java",
    h: "java",
    cpp: "java",
    hpp: "java",
    swift: "java",
    scala: "java",
    php: "java",
    scss: "css",
    less: "css",
    jsonc: "json",
    jsonl: "json",
  },
};
/** Longer texts stay as they are: colouring them takes longer than reading a line of it. */
const maxChars = 40_000;

/** Coloured by its language, which may be told by the name of a file. Built of text nodes only: nothing in it is ever read as HTML. */
export function highlighted(text: string, language: string): ComponentChildren {
  const word = language.toLowerCase().split(".").at(-1) ?? "";
  const name = Object.hasOwn(names, word) ? names[word] : word;
  if (name === undefined || !Object.hasOwn(languages, name) || text.length > maxChars) return plain(text);
  return toNodes(lowlight.highlight(name, text).children as readonly TreeNode[]);
}

type TreeNode = {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: readonly string[] };
  readonly children?: readonly TreeNode[];
};

/** The theme has four colours for code. */
const colours: readonly (readonly [RegExp, string])[] = [
  [/keyword|built_in|literal|tag|name|selector/, "kw"],
  [/string|regexp|template/, "str"],
  [/comment|doctag|quote/, "com"],
  [/number|attr|symbol|variable|meta/, "nu"],
];

function toNodes(nodes: readonly TreeNode[]): ComponentChildren[] {
  return nodes.map((node) => {
    if (node.type === "text") return plain(node.value ?? "");
    const kind = node.properties?.className?.join(" ") ?? "";
    const colour = colours.find(([pattern]) => pattern.test(kind))?.[1];
    const inner = toNodes(node.children ?? []);
    return colour ? <span class={colour}>{inner}</span> : inner;
  });
}
