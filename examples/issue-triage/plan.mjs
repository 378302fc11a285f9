// plan.mjs ISSUES.json LABELS.json < TRIAGE.json: prints the commands that would set the labels.
import { readFileSync } from "node:fs";

const [asked, labels] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")));
const numbers = new Set(asked.map(({ number }) => number));
const { issues } = JSON.parse(readFileSync(0, "utf8"));
for (const { number, labels: wanted, priority, reason } of issues) {
  const unknown = wanted.filter((label) => !labels.includes(label));
  if (!numbers.has(number)) process.stderr.write(`#${number} was not asked about: left out\n`);
  else if (unknown.length > 0) process.stderr.write(`#${number}: there is no label ${unknown.join(", ")}: left out\n`);
  else
    process.stdout.write(
      `gh issue edit ${number} --add-label ${[...wanted, `priority-${priority}`].join(",")}  # ${oneLine(reason)}\n`,
    );
}

function oneLine(text) {
  return text.replace(/\s+/g, " ");
}
