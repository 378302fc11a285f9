import { posix } from "node:path";
import { Marked } from "marked";

/**
 * One document as HTML. `isPage` says which paths of the repository are pages of the site, `isFile` which exist at all; a link that leads to
 * neither is told to `dead`. Returns the sections beside it: what a reader searches for.
 */
export function renderMarkdown(path, text, places) {
  const slugs = new Map();
  const sections = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const words = plain(html);
        const id = unique(slugOf(words), slugs);
        sections.push({ id, depth, title: words, text: "" });
        return `<h${depth} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="Link to ${attribute(words)}">#</a></h${depth}>\n`;
      },
      link({ href, title, tokens }) {
        const inside = this.parser.parseInline(tokens);
        const target = leads(path, href, places);
        if (target === undefined) return `<span class="file" title="A file of the repository">${inside}</span>`;
        return `<a href="${attribute(target)}"${title ? ` title="${attribute(title)}"` : ""}>${inside}</a>`;
      },
      image: ({ href, text: words }) => `<img src="${attribute(href)}" alt="${attribute(words)}">`,
      table(token) {
        const cell = (one) => this.parser.parseInline(one.tokens);
        const isHeadless = token.header.every(({ text: words }) => words.trim() === "");
        const head = isHeadless
          ? ""
          : `<thead><tr>${token.header.map((one) => `<th scope="col">${cell(one)}</th>`).join("")}</tr></thead>`;
        const rows = token.rows.map((row) => `<tr>${row.map((one) => `<td>${cell(one)}</td>`).join("")}</tr>`).join("\n");
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
      },
      code: ({ text: words, lang }) =>
        `<pre tabindex="0"${lang ? ` data-language="${attribute(lang)}"` : ""}><code>${attribute(words)}</code></pre>\n`,
      // Documents are Markdown: what looks like markup is shown, and comments are not.
      html: ({ text: words }) => (words.startsWith("<!--") ? "" : attribute(words)),
    },
  });
  const html = marked.parse(text);
  fill(sections, html);
  return { html, sections, title: sections[0]?.title ?? path };
}

/** Where a link leads from a page: to another page, to an anchor, out of the site, or nowhere (undefined: a file of the repository). */
function leads(path, href, { isPage, isFile, dead }) {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [file, anchor = ""] = href.split("#");
  const target = posix.normalize(posix.join(posix.dirname(path), decodeURI(file))).replace(/\/$/, "");
  const hash = anchor === "" ? "" : `#${anchor}`;
  for (const candidate of [target, `${target}/README.md`])
    if (isPage(candidate)) return posix.relative(posix.dirname(path), candidate).replace(/\.md$/, ".html") + hash;
  if (!isFile(target)) dead(`${path} leads to ${href}, which does not exist`);
  return undefined;
}

/** As GitHub makes them, so that links work in both places. */
function slugOf(words) {
  return words
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

function unique(slug, seen) {
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** The words below each heading. */
function fill(sections, html) {
  const parts = html.split(/<h\d id="[^"]*">.*?<\/h\d>\n/s).slice(1);
  for (const [at, section] of sections.entries()) section.text = plain(parts[at] ?? "");
}

function plain(html) {
  return html
    .replace(/<[^>]*>/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ")
    .trim();
}

export function attribute(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
