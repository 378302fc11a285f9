import { decodeEntities } from "./html-entities.ts";
import { tokenizeHtml } from "./html-tokens.ts";

/** A page as text one can read: headings, lists, code and tables in Markdown's manner, links as `text (url)`. */
export function htmlToText(html: string, base: URL): string {
  const page = new PageText();
  const links: { url: string | undefined; start: number }[] = [];
  let title = "";
  let within = "";
  let hidden: { name: string; depth: number } | undefined;
  for (const token of tokenizeHtml(html)) {
    if (token.type === "text") {
      if (within === "title") title ||= decodeEntities(token.text).replace(/\s+/g, " ").trim();
      else if (!hidden) page.text(decodeEntities(token.text));
      continue;
    }
    within = token.type === "open" && token.name === "title" ? "title" : "";
    if (hidden) {
      if (token.name === hidden.name && !(token.type === "open" && token.isEmpty)) hidden.depth += token.type === "open" ? 1 : -1;
      // A head that was never closed ends where the body begins.
      if (hidden.depth === 0 || (hidden.name === "head" && token.name === "body")) hidden = undefined;
      continue;
    }
    if (token.type === "open" && hiddenElements.has(token.name)) {
      if (!token.isEmpty) hidden = { name: token.name, depth: 1 };
      continue;
    }
    if (token.name === "title") continue;
    if (token.name === "a") {
      const link = token.type === "close" ? links.pop() : undefined;
      if (link?.url !== undefined && page.length > link.start) page.afterWord(` (${link.url})`);
      if (token.type === "open") links.push({ url: linkOf(token.attribute("href"), base), start: page.length });
      continue;
    }
    if (token.type === "open" && token.name === "img") {
      const alt = token.attribute("alt")?.trim();
      if (alt) page.text(`[image: ${alt}]`);
      continue;
    }
    if (token.type === "open") page.open(token.name);
    else page.close(token.name);
  }
  const text = page.finish();
  return title === "" || text.startsWith(`# ${title}\n`) ? text : `Title: ${title}\n\n${text}`;
}

const hiddenElements = new Set([
  "head",
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "noframes",
  "select",
  "object",
]);
const paragraphs = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre figure section article main header footer nav aside form".split(" "),
);
const blocks = new Set("div li tr dt dd br hr address fieldset figcaption details summary caption option center".split(" "));

/** Collects words and keeps white space in order: runs become one space, blocks one line break, paragraphs an empty line. */
class PageText {
  readonly #pieces: string[] = [];
  readonly #lists: { ordered: boolean; items: number }[] = [];
  #breaks = 2;
  #space = false;
  #preformatted = 0;
  /** Grows with every piece of visible text. */
  length = 0;

  text(text: string): void {
    if (this.#preformatted > 0) {
      this.#put(text);
      return;
    }
    const words = text.split(/[\s\u00a0]+/);
    if (words.length > 1 && words[0] === "") this.#space = true;
    const joined = words.filter((word) => word !== "").join(" ");
    if (joined === "") return;
    this.#put(joined);
    this.#space = words.at(-1) === "";
  }

  /** Directly behind the last word, before any space that is still owed. */
  afterWord(text: string): void {
    const space = this.#space;
    this.#space = false;
    const breaks = this.#breaks;
    this.#breaks = 0;
    this.#put(text);
    this.#space = space;
    this.#breaks = breaks;
  }

  open(name: string): void {
    this.#separate(name);
    const heading = /^h([1-6])$/.exec(name)?.[1];
    if (heading !== undefined) this.#lead(`${"#".repeat(Number(heading))} `);
    if (name === "ul" || name === "ol") this.#lists.push({ ordered: name === "ol", items: 0 });
    if (name === "li") this.#lead(this.#bullet());
    if (name === "hr") this.#put("---");
    if (name === "hr") this.#break(1);
    if (name === "blockquote") this.#lead("> ");
    if (name === "td" || name === "th") this.#cell();
    if (name === "pre") {
      this.#lead("```\n");
      this.#preformatted++;
    }
    if (name === "code" && this.#preformatted === 0) this.#lead("`");
  }

  close(name: string): void {
    if (name === "pre" && this.#preformatted > 0) {
      this.#preformatted--;
      this.#break(1);
      this.#put("```");
    }
    if (name === "code" && this.#preformatted === 0) this.afterWord("`");
    if (name === "ul" || name === "ol") this.#lists.pop();
    if (name !== "br") this.#separate(name);
  }

  finish(): string {
    const lines = this.#pieces.join("").split("\n");
    // Line by line: a regular expression for space at line ends takes quadratic time on long runs of it.
    const trimmed = lines.map((line) => line.trimEnd()).join("\n");
    return trimmed.replace(/\n{3,}/g, "\n\n").trim();
  }

  #separate(name: string): void {
    if (this.#preformatted > 0 && name !== "pre") {
      if (name === "br") this.#put("\n");
      return;
    }
    const isInnerList = (name === "ul" || name === "ol") && this.#lists.length > 0;
    if (paragraphs.has(name) && !isInnerList) this.#break(2);
    else if (blocks.has(name) || isInnerList) this.#break(1);
  }

  #break(count: number): void {
    this.#breaks = Math.max(this.#breaks, count);
    this.#space = false;
  }

  /** A mark in front of the text to come: nothing is owed between the two. */
  #lead(mark: string): void {
    this.#put(mark);
    this.#space = false;
  }

  #bullet(): string {
    const list = this.#lists.at(-1);
    if (!list) return "- ";
    list.items++;
    return `${"  ".repeat(Math.min(this.#lists.length, 10) - 1)}${list.ordered ? `${list.items}.` : "-"} `;
  }

  #cell(): void {
    if (this.#breaks === 0) this.#lead(" | ");
  }

  #put(text: string): void {
    if (text === "") return;
    if (this.#breaks > 0 && this.#pieces.length > 0) this.#pieces.push("\n".repeat(this.#breaks));
    else if (this.#space) this.#pieces.push(" ");
    this.#breaks = 0;
    this.#space = false;
    this.#pieces.push(text);
    this.length += text.length;
  }
}

function linkOf(href: string | undefined, base: URL): string | undefined {
  if (href === undefined || href.startsWith("#") || !URL.canParse(href, base.href)) return undefined;
  const url = new URL(href, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}
