// Search without a server, and the reader's choice of light or dark. All that is shown is set as text.
const up = document.body.dataset.up;
const [form, input, found, article, theme] = ["form[role=search]", "#search", "#found", "article", "#theme"].map((one) =>
  document.querySelector(one),
);
const most = 30;
let entries;

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
input.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === "Escape" && document.activeElement === input) {
    input.value = "";
    void search();
  }
});

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  article.hidden = !found.hidden;
  if (found.hidden) return;
  entries ??= load();
  const scored = (await entries)
    .map((entry) => ({ entry, score: score(entry, words) }))
    .filter(({ score: points }) => points > 0)
    .sort((a, b) => b.score - a.score);
  show(
    scored.map(({ entry }) => entry),
    words,
  );
}

/** Asked for again at the next letter when it cannot be had. */
function load() {
  return fetch(`${up}/search.json`)
    .then((answer) => answer.json())
    .catch(() => {
      entries = undefined;
      return [];
    });
}

/** Every word must be there; titles count more than text. */
function score({ page, title, text }, words) {
  const points = words.map((word) => {
    const inTitle = title.toLowerCase().includes(word) ? 10 : 0;
    const inPage = page.toLowerCase().includes(word) ? 4 : 0;
    const inText = Math.min(3, text.toLowerCase().split(word).length - 1);
    return inTitle + inPage + inText;
  });
  return points.some((one) => one === 0) ? 0 : points.reduce((sum, one) => sum + one, 0);
}

function show(matches, words) {
  const count = document.createElement("p");
  count.textContent = matches.length === 0 ? "Nothing was found" : `${matches.length} found`;
  const list = document.createElement("ol");
  for (const { url, page, title, text } of matches.slice(0, most)) {
    const [row, link, about] = ["li", "a", "small"].map((tag) => document.createElement(tag));
    link.href = `${up}/${url}`;
    link.textContent = page === title ? title : `${page}: ${title}`;
    about.textContent = around(text, words[0]);
    row.append(link, document.createElement("br"), about);
    list.append(row);
  }
  found.replaceChildren(count, list);
}

function around(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 180)}${text.length > at + 180 ? "…" : ""}`;
}

const kept = (() => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // a browser that keeps nothing
  }
})();
const isDark = () =>
  (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
if (kept) document.documentElement.dataset.theme = kept;
theme.hidden = false;
theme.textContent = isDark() ? "Light" : "Dark";
theme.addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  theme.textContent = next === "dark" ? "Light" : "Dark";
  try {
    localStorage.setItem("theme", next);
  } catch {
    // it holds for this page
  }
});
