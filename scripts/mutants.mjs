// Which changes of the code no test notices: npm run mutants -- [FOLDER…] [--sample N] [--seed N] [--jobs N] [--again] [--own] [--all]
// [--explained] [--list]. Plants mutants into the sources, runs for each the near tests that meet it (--own: those of its folder, --all: every
// one), the nearest first, until one fails. What survives is a missing test, or stands with its reason in scripts/mutants/equivalent.json.
// Results are kept in .cache/mutants and not asked for twice; --again asks once more for those that survived; --explained asks for those with
// a reason, and fails when one of them is noticed after all.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join, relative } from "node:path";
import { createHash } from "node:crypto";
import { root } from "./bundle-options.mjs";
import { listTests } from "./list-tests.mjs";
import { findMutants } from "./mutants/find-mutants.mjs";
import { openSlowTests } from "./mutants/meet-tests.mjs";
import { canHoldMutants, checkNames, isNear, isQuick } from "./mutants/near-tests.mjs";
import { openQuickTests } from "./mutants/quick-tests.mjs";
import { runTests } from "./mutants/run-tests.mjs";

const source = join(root, "packages/runtime/src");
const place = join(root, ".cache/mutants");
const args = process.argv.slice(2);
const option = (name, fallback) => (args.includes(name) ? Number(args[args.indexOf(name) + 1]) : fallback);
const numbers = new Set(
  ["--sample", "--seed", "--jobs"].flatMap((name) => (args.includes(name) ? [args.indexOf(name) + 1] : [])),
);
const folders = args.filter((arg, index) => !arg.startsWith("--") && !numbers.has(index));
const seed = option("--seed", 1);
const jobs = option("--jobs", cpus().length);

/** Folder (or file) → the share of mutants that may survive. Where a mistake is a hole in the wall, none may. */
const ceilings = {
  engine: 0.08,
  journal: 0.08,
  session: 0.08,
  permissions: 0,
  settings: 0.08,
  checkpoints: 0.08,
  context: 0.08,
  hooks: 0.08,
  tools: 0.08,
  workspace: 0.08,
  "transports/live": 0.08,
  util: 0.08,
};
const noneMaySurvive =
  /^(?:permissions\/|util\/(?:redact|known-secrets|secret-|key-shapes|unfinished-secrets)|journal\/lock|checkpoints\/restore|settings\/trust)/;

/** Source file → tests that noticed a change of it, the latest first. */
const killers = new Map();

const chosen = chooseMutants();
if (chosen.length === 0) {
  console.error(`No mutants in ${folders.join(", ") || "the sources"}`);
  process.exit(1);
}
if (args.includes("--list"))
  for (const { id, file, line, operator, at } of chosen) console.log(`${id} ${file}:${line} ${operator}: ${at}`);
else process.exitCode = (args.includes("--explained") ? reportDoubts : report)(await judgeAll(chosen)) ? 0 : 1;

/** The same ones for the same seed and sources: the smallest hashes of their names, so many from each folder. */
function chooseMutants() {
  const wanted = Object.keys(ceilings).filter((name) => folders.length === 0 || folders.some((one) => one.startsWith(name)));
  const sample = option("--sample", Number.POSITIVE_INFINITY);
  const all = wanted.flatMap((folder) => {
    const files = listSources(join(source, folder)).filter(
      (file) => folders.length === 0 || folders.some((one) => file.startsWith(one)),
    );
    const mutants = files.flatMap((file) => {
      const text = readFileSync(join(source, file), "utf8"); // kept with each: the file may change before the last of them is compiled
      return findMutants(text, file).map((mutant) => ({ ...mutant, text }));
    });
    const ranked = mutants.map((mutant) => ({ ...mutant, folder, rank: digest(`${seed}|${mutant.key}`) }));
    return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, Math.ceil(sample / wanted.length));
  });
  return all.map((mutant) => ({ ...mutant, id: digest(mutant.key).slice(0, 12) }));
}

async function judgeAll(mutants) {
  mkdirSync(place, { recursive: true });
  const equivalents = readEquivalents(mutants);
  const known = readKnown();
  const doubted = args.includes("--explained");
  const open = mutants.filter(({ key }) => (doubted ? equivalents.has(key) : !equivalents.has(key) && !known.has(key)));
  console.log(
    `${mutants.length} mutants: ${equivalents.size} explained, ${mutants.filter(({ key }) => known.has(key)).length} known, ${open.length} to run`,
  );
  if (open.length > 0) {
    const output = join(place, `tests-${process.pid}`);
    const tests = listTests(root).map((file) => relative(root, file));
    checkNames(tests);
    const entries = tests.filter((test) => canHoldMutants(test) && open.some(({ folder }) => mayTell(test, folder)));
    let done = 0;
    const tell = (mutant, { verdict, by }) => {
      known.set(mutant.key, verdict);
      if (!doubted) appendFileSync(join(place, "results.jsonl"), `${JSON.stringify({ key: mutant.key, verdict, by })}\n`);
      if ((verdict !== "killed") !== doubted)
        console.log(
          `${verdict}  ${mutant.file}:${mutant.line}  ${mutant.operator} → ${mutant.code || "(nothing)"}\n          ${mutant.at}${by === undefined ? "" : `\n          by ${by}`}`,
        );
      if (++done % 50 === 0) console.log(`… ${done} of ${open.length}`);
    };
    const { left, asked } = await judgeQuickly({ mutants, open, entries, output, tell });
    const slow = openSlowTests({ mutants, place, output });
    const others = entries.filter((entry) => !asked.has(entry));
    await besideEachOther(
      left,
      () => slow,
      async (mutant) => tell(mutant, await judge(mutant, others, slow)),
    );
    rmSync(output, { recursive: true, force: true });
  }
  const verdictOf = ({ key }) => (equivalents.has(key) && !doubted ? "explained" : known.get(key));
  return (doubted ? open : mutants).map((mutant) => ({ ...mutant, verdict: verdictOf(mutant) }));
}

/** Those that the quick tests do not kill are left; each keeps whether they met it. `asked` are the test files that were asked. */
async function judgeQuickly({ mutants, open, entries, output, tell }) {
  const quick = entries.filter((entry) => isQuick(entry, readFileSync(join(root, entry), "utf8")));
  if (quick.length === 0) return { left: open, asked: new Set() };
  const tests = await openQuickTests({ entries: quick, mutants, place, output });
  const left = [];
  await besideEachOther(open, tests.openJudge, async (mutant, { judge }) => {
    const judgement = await judge(mutant);
    if (judgement.verdict === "killed") tell(mutant, judgement);
    else left.push({ ...mutant, ...judgement });
  });
  return { left, asked: new Set(quick.filter((entry) => !tests.unfit.has(entry))) };
}

/** As many at a time as there are jobs; each takes what `open` gives it, and closes it. */
async function besideEachOther(items, open, work) {
  const queue = [...items];
  const takeTurns = async () => {
    const tool = open();
    for (let item = queue.shift(); item; item = queue.shift()) await work(item, tool);
    tool.close();
  };
  await Promise.all(Array.from({ length: jobs }, takeTurns));
}

function mayTell(test, folder) {
  if (args.includes("--own")) return test.startsWith(`packages/runtime/src/${folder}/`);
  return args.includes("--all") || isNear(test, folder);
}

/** What noticed another change of the file first, then its own test and those around it: most mutants meet no other. */
async function judge(mutant, entries, slow) {
  const proven = killers.get(mutant.file) ?? [];
  const own = `packages/runtime/src/${mutant.file.replace(/\.ts$/, ".test.ts")}`;
  const places = [own, `${dirname(own)}/`, `packages/runtime/src/${mutant.folder}/`];
  const distance = (entry) => {
    const place = places.findIndex((start) => entry.startsWith(start));
    return proven.includes(entry) ? proven.indexOf(entry) - proven.length : place < 0 ? places.length : place;
  };
  const wanted = entries.filter((entry) => mayTell(entry, mutant.folder)).sort((a, b) => distance(a) - distance(b));
  let verdict = mutant.verdict ?? "unmet";
  for (const entry of wanted) {
    const test = await slow.meet(entry);
    if (!test?.met.has(mutant.id)) continue;
    verdict = "survived";
    const { passed } = await runTests(test.file, { mutant: mutant.id, timeoutMs: test.ms * 4 + 8_000 });
    if (passed) continue;
    killers.set(mutant.file, [entry, ...proven.filter((one) => one !== entry)]);
    return { verdict: "killed", by: entry };
  }
  return { verdict };
}

function report(results) {
  const rows = Object.keys(ceilings).flatMap((folder) => {
    const own = results.filter((mutant) => mutant.folder === folder && mutant.verdict !== "explained");
    const alive = own.filter(({ verdict }) => verdict !== "killed");
    return own.length === 0
      ? []
      : [{ folder, mutants: own.length, survive: alive.length, share: alive.length / own.length, alive }];
  });
  for (const { folder, mutants, survive, share } of rows)
    console.log(
      `${folder.padEnd(18)} ${String(survive).padStart(4)} of ${String(mutants).padStart(5)} survive (${(share * 100).toFixed(1)} %)`,
    );
  const breached = results.filter(
    ({ verdict, file }) => verdict !== "killed" && verdict !== "explained" && noneMaySurvive.test(file),
  );
  for (const { file, line, operator, at } of breached) console.log(`must not survive: ${file}:${line} ${operator}: ${at}`);
  // Of a dozen one may be bad luck: the first survivor alone proves nothing about a share.
  const over = rows.filter(({ folder, survive, share }) => ceilings[folder] > 0 && survive > 1 && share > ceilings[folder]);
  for (const { folder, share } of over)
    console.log(`${folder}: ${(share * 100).toFixed(1)} % survive, at most ${ceilings[folder] * 100} % may`);
  const killed = results.filter(({ verdict }) => verdict === "killed").length;
  const failed = breached.length + over.length;
  console.log(`${killed} of ${results.length} mutants are noticed`);
  return failed === 0;
}

/** A reason is wrong when a test notices the change. */
function reportDoubts(results) {
  const wrong = results.filter(({ verdict }) => verdict === "killed");
  console.log(`${results.length - wrong.length} of ${results.length} explanations hold`);
  return wrong.length === 0;
}

/** Mutants that change nothing, each with a reason: `[file, operator, line, reason]`. */
function readEquivalents(mutants) {
  const written = JSON.parse(readFileSync(join(root, "scripts/mutants/equivalent.json"), "utf8"));
  const explained = new Set();
  for (const { file, operator, at, nth = 0, reason } of written) {
    if (!reason) throw new Error(`equivalent.json: ${file} ${at} has no reason`);
    if (!linesOf(file).has(at)) console.log(`equivalent.json: ${file} has no line ${at}`); // whoever changed it need not have known
    const mutant = mutants.find((one) => one.file === file && one.operator === operator && one.at === at && one.nth === nth);
    if (mutant) explained.add(mutant.key);
  }
  return explained;
}

function linesOf(file) {
  const path = join(source, file);
  return new Set(
    existsSync(path)
      ? readFileSync(path, "utf8")
          .split("\n")
          .map((line) => line.trim())
      : [],
  );
}

function readKnown() {
  const path = join(place, "results.jsonl");
  if (!existsSync(path)) return new Map();
  const known = new Map(
    readFileSync(path, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .map(({ key, verdict }) => [key, verdict]),
  );
  return args.includes("--again") ? new Map([...known].filter(([, verdict]) => verdict === "killed")) : known;
}

function listSources(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => relative(source, join(folder, String(name))))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
}

function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}
