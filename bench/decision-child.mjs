// How long a decision about a command takes: node decision-child.mjs ROUNDS. Prints JSON, in milliseconds: the first one, which loads the
// parser of bash, and of each command the middle one of its rounds, so that what else the machine does is not counted.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { importSources } from "./library.mjs";
import { median } from "./statistics.mjs";

const rounds = Number(process.argv[2]);
const { decide } = await importSources({ decide: "permissions/decide.ts" });
const { lookers } = JSON.parse(readFileSync(join(dirname(import.meta.dirname), "test/fixtures/commands.json"), "utf8"));
const root = realpathSync(mkdtempSync(join(tmpdir(), "outrider-decision-")));
process.on("exit", () => rmSync(root, { recursive: true, force: true }));
for (const file of ["src/a.ts", "src/b.ts", "test/a.test.ts", "a.txt", "b.txt", "README.md", "package.json"]) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), "");
}
const policy = {
  mode: "default",
  allow: [],
  ask: [],
  deny: [],
  base: { root, home: "/home/me" },
  readable: [],
  inertGit: async () => "/inert",
  environment: new Set(Object.keys(process.env)),
  listFolder: (folder) => readdir(folder, { withFileTypes: true }).then(toEntries, () => undefined),
  programs: { place: async () => "system", isShadowed: async () => false },
};

const first = await time("ls");
const times = new Map(lookers.map((command) => [command, []]));
for (let round = 0; round < rounds; round++) for (const command of lookers) times.get(command).push(await time(command));
console.log(JSON.stringify({ first, others: [...times.values()].map(median) }));

async function time(resource) {
  const startedAt = performance.now();
  const { effect } = await decide(policy, [{ tool: "Bash", kind: "run", resource }], resolve);
  const ms = performance.now() - startedAt;
  if (effect !== "allow") throw new Error(`${resource}: ${effect}, although it only looks`);
  return ms;
}

/** As the workspace does it: links followed as far as there is something. */
async function resolve(path) {
  return realpath(path).catch(async () =>
    path === dirname(path) ? path : join(await resolve(dirname(path)), path.slice(dirname(path).length)),
  );
}

function toEntries(entries) {
  return entries.map((entry) => ({
    name: entry.name,
    kind: entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "symlink" : "file",
  }));
}
