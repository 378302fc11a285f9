import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { transform } from "esbuild";
import { root } from "../bundle-options.mjs";
import { renderMarkdown } from "./markdown.mjs";
import { readers } from "./readers.mjs";
import { toIndex, toPage } from "./template.mjs";

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6" fill="none" stroke="#00626e" stroke-width="3"/></svg>\n';

/** The documents as a site: path → text. `dead` hears of every link that leads nowhere. */
export async function buildSite({ dead = () => {} } = {}) {
  const documents = listDocuments();
  const isPage = (path) => documents.includes(path);
  const isFile = (path) => existsSync(join(root, path));
  const pages = documents.map((path) => ({
    path,
    ...renderMarkdown(path, readFileSync(join(root, path), "utf8"), { isPage, isFile, dead }),
  }));
  const titles = new Map(pages.map(({ path, title }) => [path, title]));
  const shelves = withRest(documents);
  const files = new Map();
  for (const { path, title, html, sections } of pages) {
    const target = path.replace(/\.md$/, ".html");
    files.set(target, toPage({ path: target, title, body: html, sections, titles, readers: shelves }));
  }
  files.set("index.html", toIndex({ titles, readers: shelves, lead: leadOf("README.md") }));
  files.set("search.json", JSON.stringify(pages.flatMap(searchEntries)));
  files.set("site.css", await style());
  files.set("icon.svg", icon);
  files.set("site.js", readFileSync(join(import.meta.dirname, "site.js"), "utf8"));
  for (const name of readdirSync(join(root, "docs/pictures")))
    files.set(posix.join("docs/pictures", name), readFileSync(join(root, "docs/pictures", name), "utf8"));
  return files;
}

/** A guide that nobody is said to read is on a shelf of its own: a new page is found before somebody has thought of its readers. */
function withRest(documents) {
  const known = readers.map((reader) => ({ ...reader, pages: reader.pages.filter((path) => documents.includes(path)) }));
  const placed = new Set(known.flatMap(({ pages }) => pages));
  const rest = documents.filter((path) => /^docs\/[^/]+\.md$/.test(path) && !placed.has(path));
  return rest.length === 0 ? known : [...known, { id: "more", name: "More", wants: "", pages: rest }];
}

function listDocuments() {
  const below = (folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => posix.join(folder, name.replaceAll("\\", "/")));
  const examples = below("examples").filter((path) => /^examples\/([\w-]+\/)?README\.md$/.test(path));
  return [...below("docs"), ...examples, "README.md", "CHANGELOG.md", "bench/README.md"].sort();
}

/** The first words below the title. */
function leadOf(path) {
  return /^# .*\n+([^\n]+)/.exec(readFileSync(join(root, path), "utf8"))?.[1] ?? "";
}

function searchEntries({ path, title, sections }) {
  const url = path.replace(/\.md$/, ".html");
  return sections.map((section, at) => ({
    url: at === 0 ? url : `${url}#${section.id}`,
    page: title,
    title: section.title,
    text: section.text,
  }));
}

async function style() {
  const sources = [join(root, "packages/web/src/styles/tokens.css"), join(import.meta.dirname, "site.css")];
  const text = sources.map((path) => readFileSync(path, "utf8")).join("\n");
  return (await transform(text, { loader: "css", minify: true, charset: "ascii", target: "es2023" })).code;
}
