import { posix } from "node:path";
import { attribute } from "./markdown.mjs";

/** No script but the site's own, no address but its own, nothing inline. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** A whole page; `path` is where it lies in the site, `titles` what each document is called, `readers` who reads what. */
export function toPage({ path, title, body, sections = [], titles, readers }) {
  const up = posix.relative(posix.dirname(path), "") || ".";
  const contents = sections.filter(({ depth }) => depth === 2 || depth === 3);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${attribute(title)} · Outrider</title>
<link rel="icon" href="${up}/icon.svg">
<link rel="stylesheet" href="${up}/site.css">
<script src="${up}/site.js" defer></script>
</head>
<body data-up="${up}">
<a class="skip" href="#content">Skip to the page</a>
<header>
<a class="home" href="${up}/index.html">Outrider</a>
<form role="search" hidden><label for="search">Search</label><input id="search" type="search" placeholder="Search (press /)" autocomplete="off"></form>
<button id="theme" type="button" hidden>Dark</button>
</header>
<div class="columns">
<nav aria-label="Pages">${navigation({ path, up, titles, readers })}</nav>
<main id="content">
<div id="found" role="status" hidden></div>
<article>
${body}
</article>
</main>
${contents.length < 3 ? "" : `<aside aria-label="On this page"><p class="head">On this page</p><ul>${contents.map(item).join("")}</ul></aside>`}
</div>
</body>
</html>
`;
}

/** The first page: who reads what. */
export function toIndex({ titles, readers, lead }) {
  const card = ({ id, name, wants, pages }) => `<section aria-labelledby="for-${id}">
<h2 id="for-${id}">${name}</h2><p>${wants}</p>
<ul>${pages.map((page) => `<li><a href="${page.replace(/\.md$/, ".html")}">${attribute(titles.get(page))}</a></li>`).join("")}</ul>
</section>`;
  const body = `<h1>Outrider</h1>\n<p class="lead">${attribute(lead)}</p>\n<div class="cards">${readers.map(card).join("\n")}</div>`;
  return toPage({ path: "index.html", title: "Documents", body, titles, readers });
}

function navigation({ path, up, titles, readers }) {
  const entry = (page) => {
    const target = page.replace(/\.md$/, ".html");
    const current = target === path ? ' aria-current="page"' : "";
    return `<li><a href="${up}/${target}"${current}>${attribute(titles.get(page))}</a></li>`;
  };
  return readers.map(({ name, pages }) => `<p class="head">${name}</p><ul>${pages.map(entry).join("")}</ul>`).join("\n");
}

function item({ id, depth, title }) {
  return `<li class="depth-${depth}"><a href="#${id}">${attribute(title)}</a></li>`;
}
