// npm run bench:peers -- [--part figures|serving|probes] [--quick] [--only NAME,NAME] [--at-once N] [--folder DIR] [--no-write]: peers from npm side by side with the
// built command, on a scripted model, in a network namespace that has loopback only. Keeps what was measured in results.json and writes the tables of
// bench/README.md and README.md from it; they are never written by hand. Figures and servers want a quiet machine, probes do not. --only prints and writes nothing.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { between, installNode } from "../../scripts/install-node.mjs";
import { peers } from "./peers.mjs";
import { toComparison, toTables } from "./tables.mjs";

const execute = promisify(execFile);
const root = dirname(dirname(import.meta.dirname));
const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    "at-once": { type: "string", default: "20" },
    folder: { type: "string", default: join(tmpdir(), "outrider-bench-peers") },
    "no-write": { type: "boolean", default: false },
    only: { type: "string", default: "" },
    part: { type: "string", multiple: true, default: ["figures", "serving", "probes"] },
  },
});

const only = flags.only.split(",").filter(Boolean);
const unknown = [
  ...flags.part.filter((part) => !["figures", "serving", "probes"].includes(part)),
  ...only.filter((name) => !peers.some((peer) => peer.name === name)),
];
if (unknown.length > 0) {
  console.error(
    `There is no ${unknown}. Parts are figures, serving and probes; peers are ${peers.map(({ name }) => name).join(", ")}`,
  );
  process.exit(64);
}
const isServingOnly = flags.part.every((part) => part === "serving");
const wanted = peers.filter(
  ({ name, package: from, serve }) => from && (only.length === 0 || only.includes(name)) && (serve || !isServingOnly),
);
const bins = Object.fromEntries(await Promise.all(wanted.map(async (peer) => [peer.name, await install(peer)])));
const plan = {
  only,
  parts: flags.part,
  bins,
  repetitions: flags.quick ? 3 : 5,
  atOnce: Number(flags["at-once"]),
  limitMs: 60_000,
  probeMs: 120_000,
};
const machine = {
  cpu: cpus()[0]?.model.trim(),
  cores: cpus().length,
  memory: Math.round(totalmem() / 1e9),
  node: process.version,
  load: loadavg()[0],
  date: new Date().toISOString().slice(0, 10),
};
const resultsFile = join(import.meta.dirname, "results.json");
const results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, "utf8")) : {};
const measured = await measureAll();
for (const part of flags.part) {
  const own = measured.filter((row) => row.part === part).map(({ part: _, ...row }) => row);
  const rows = peers.flatMap(({ name }) => own.filter((row) => row.name === name));
  results[part] = { machine, repetitions: plan.repetitions, atOnce: plan.atOnce, rows };
}
console.log(toTables(results));
// A table of some beside one of all would compare different days.
if (!flags["no-write"] && only.length === 0) {
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  replace("bench/README.md", toTables(results));
  replace("README.md", toComparison(results));
}

/**
 * The newest version that npm has whole, into a folder of its own; what cannot be had is skipped, by name. Each version is asked for by its
 * number: for a name alone npm takes an old one where the newest wants a newer Node, and says nothing. Such a peer runs on a Node it accepts.
 */
async function install({ package: name, bin }) {
  const folder = join(flags.folder, name.replaceAll(/\W+/g, "-"));
  mkdirSync(folder, { recursive: true });
  try {
    const version = await installNewest({ folder, name });
    return { path: join(folder, "node_modules/.bin", bin), version, node: nodeFor(wantedNode(folder, name)) };
  } catch (error) {
    return {
      reason: `npm could not install it: ${String(error.stderr ?? error.message)
        .trim()
        .split("\n")
        .at(-1)}`,
    };
  }
}

/** Newest first, without the ones that are not for everybody. */
async function newestVersions(name) {
  const { stdout } = await execute("npm", ["view", name, "versions", "dist-tags.latest", "--json"]);
  const { versions, "dist-tags.latest": latest } = JSON.parse(stdout);
  const released = versions.filter((version) => !version.includes("-"));
  return released
    .slice(0, released.indexOf(latest) + 1)
    .reverse()
    .slice(0, 16);
}

async function installNewest({ folder, name }) {
  let failure;
  for (const version of await newestVersions(name)) {
    if (version === manifest(folder, name)?.version) return version;
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const words = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", `${name}@${version}`];
    try {
      await execute("npm", words, { cwd: folder });
      return version;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

function manifest(folder, name) {
  const file = join(folder, "node_modules", name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/** The oldest major version of Node that it takes. */
function wantedNode(folder, name) {
  return Number(/\d+/.exec(manifest(folder, name)?.engines?.node ?? "")?.[0] ?? 0);
}

function nodeFor(major) {
  if (Number(process.versions.node.split(".")[0]) >= major) return process.execPath;
  return installNode(between.find((version) => Number(version.split(".")[0]) >= major) ?? between.at(-1));
}

/** In a namespace of its own nobody reaches anything but the model, whatever they try. */
async function measureAll() {
  const file = join(flags.folder, "plan.json");
  writeFileSync(file, JSON.stringify(plan));
  const measure = `ip link set lo up && exec "${process.execPath}" "${join(import.meta.dirname, "measure.mjs")}" "${file}"`;
  const child = spawn("unshare", ["--map-root-user", "--net", "sh", "-c", measure], { stdio: ["ignore", "pipe", "inherit"] });
  const measured = [];
  let rest = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      console.error(line);
      measured.push(JSON.parse(line));
    }
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (child.exitCode !== 0) throw new Error(`Measuring ended with ${child.exitCode ?? child.signalCode}`);
  return measured;
}

function replace(path, text) {
  const before = readFileSync(join(root, path), "utf8");
  const after = before.replace(
    /(<!-- peers:begin -->\n)[\s\S]*?(<!-- peers:end -->)/,
    (_, begin, end) => `${begin}${text}\n${end}`,
  );
  if (after === before) console.error(`${path} has no place for the table, or has it already`);
  writeFileSync(join(root, path), after);
}
