// A stored session as the terminal showed it, as SVG. npm run picture: that of the README, from a recorded run whose model was a script.
// npm run picture -- SESSION.jsonl COMMAND --to FILE: any other.
// The words are those of the command's own narrator, so that the picture in the README shows what a run prints, and a test makes it again.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { bundleOptions, root } from "./bundle-options.mjs";

const readmeCommand =
  'outrider -p "The tests fail. Find out why and fix it." --permission-mode acceptEdits --allowedTools "Bash(node --test)"';
const columns = 100;
const glyph = { width: 8.43, height: 19, size: 14 };
const margin = 16;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with one
const sgr = /\x1b\[(\d+)m/g;
const styles = { 1: "bold", 2: "dim", 31: "red", 32: "green", 33: "yellow" };
const ends = { 22: ["bold", "dim"], 39: ["red", "green", "yellow"] };

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { to: { type: "string" } } });
const [session = join(root, "test/fixtures/fix-the-cart.jsonl"), command = readmeCommand] = positionals;
writeFileSync(flags.to ?? join(root, "docs/pictures/run.svg"), toSvg(await toLines(readFileSync(session, "utf8"), command)));

/** What a terminal of a hundred columns shows of a session, with its colours. */
async function toLines(journal, shown) {
  const { Narrator, createPaint, wrap } = await loadTerminal();
  const paint = createPaint(true);
  const narrator = new Narrator({ paint, columns: () => columns, verbose: false });
  const events = journal.split("\n").filter(Boolean).map(JSON.parse);
  const answer = events.findLast(({ type }) => type === "turn.ended")?.outcome.text ?? "";
  const told = events.flatMap((event) => narrator.apply(event));
  return [...wrap(`$ ${shown}`, columns).map(paint.bold), ...told, ...wrap(answer, columns)];
}

/** The parts of the command that write to a terminal. They have no subpath of their own: they are built for this. */
async function loadTerminal() {
  const contents = ["narrator", "paint", "text-width"].map((name) => `export * from "./${name}.ts";`).join("\n");
  const resolveDir = join(root, "packages/cli/src/terminal");
  const { outputFiles } = await build({ ...bundleOptions, outdir: undefined, stdin: { contents, resolveDir }, write: false });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
}

/** Text and no shapes but the frame: light or dark as the reader's page is. */
function toSvg(lines) {
  const [width, height] = [columns * glyph.width + 2 * margin, lines.length * glyph.height + 2 * margin];
  const rows = lines.map((line, at) => `<text x="${margin}" y="${margin + (at + 0.75) * glyph.height}">${spans(line)}</text>`);
  const words = lines.map((line) => line.replace(sgr, "")).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="words">
<title id="words">${toXml(words)}</title>
<style>
svg { --back: #fff; --text: #1f2328; --dim: #59636e; --red: #b3261e; --green: #1a7f37; --yellow: #8a5a00; --frame: #d1d9e0 }
@media (prefers-color-scheme: dark) {
  svg { --back: #0d1117; --text: #e6edf3; --dim: #9198a1; --red: #ff7b72; --green: #3fb950; --yellow: #d29922; --frame: #3d444d }
}
rect { fill: var(--back); stroke: var(--frame) }
text { fill: var(--text); font: ${glyph.size}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.bold { font-weight: 700 }
${["dim", "red", "green", "yellow"].map((name) => `.${name} { fill: var(--${name}) }`).join("\n")}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
${rows.join("\n")}
</svg>
`;
}

/** One line with its colours as spans. */
function spans(line) {
  const on = new Set();
  return line
    .split(sgr)
    .map((part, at) => {
      if (at % 2 === 0) return part === "" ? "" : span(part, [...on]);
      for (const name of ends[part] ?? []) on.delete(name);
      if (styles[part]) on.add(styles[part]);
      return "";
    })
    .join("");
}

function span(text, names) {
  return names.length === 0 ? toXml(text) : `<tspan class="${names.join(" ")}">${toXml(text)}</tspan>`;
}

function toXml(text) {
  return text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}
