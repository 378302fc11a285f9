// Reads findings from stdin and puts them on the lines that the diff touches. Exit code 1 when one of them is an error.
import { readFileSync } from "node:fs";

const { findings } = JSON.parse(readFileSync(0, "utf8"));
const touched = touchedLines(readFileSync(process.argv[2], "utf8"));
for (const finding of findings) process.stdout.write(`${show(finding)}\n`);
process.stdout.write(`${findings.length} ${findings.length === 1 ? "finding" : "findings"}\n`);
process.exitCode = findings.some(({ severity }) => severity === "error") ? 1 : 0;

function show({ file, line, severity, message }) {
  const isFile = touched.has(file);
  const isLine = touched.get(file)?.has(line) ?? false;
  if (process.env.GITHUB_ACTIONS !== "true") return `${file}${isLine ? `:${line}` : ""}: ${severity}: ${message}`;
  const place = [isFile && `file=${percent(file, /[%\r\n:,]/g)}`, isLine && `line=${line}`, "title=Review"].filter(Boolean);
  return `::${severity} ${place.join(",")}::${percent(isFile ? message : `${file}: ${message}`, /[%\r\n]/g)}`;
}

/** What a model wrote must not end the command that it stands in. */
function percent(text, characters) {
  return text.replace(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

/** The lines of each new file that a hunk shows, added or beside an added one. */
function touchedLines(diff) {
  const files = new Map();
  let lines = new Set();
  let next = 0;
  for (const text of diff.split("\n")) {
    const file = /^\+\+\+ b\/(.*)$/.exec(text)?.[1];
    const hunk = /^@@ -\S+ \+(\d+)/.exec(text)?.[1];
    if (file !== undefined) {
      lines = new Set();
      files.set(file, lines);
    } else if (hunk !== undefined) next = Number(hunk);
    else if (/^[+ ]/.test(text)) lines.add(next++);
  }
  return files;
}
