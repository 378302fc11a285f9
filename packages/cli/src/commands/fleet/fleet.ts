import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { modelKeys } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { duration, positiveInteger, positiveNumber } from "../../flags/numbers.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { surroundings } from "../../request/plan-run.ts";
import { withdrawKeys } from "../../request/withdraw-keys.ts";
import { complain } from "../../run/say.ts";
import { print, visible } from "../../terminal/visible.ts";
import { ratesOf } from "../batch/batch-flags.ts";
import { asOurs, loadFleet } from "../batch/load-fleet.ts";
import { untilSignal } from "./until-signal.ts";

const usage = `Usage:
  outrider fleet up [--folder DIR] [--workers N] [--store ADDRESS] [--drain TIME]
                       try an engine and N workers (4) on this machine, until a signal; the same folder continues later
  outrider fleet status [--folder DIR | --ingress URL --admin URL] [--service NAME] [--json]
                       show runs by state, how many wait, and which workers the engine knows
  outrider fleet watch RUN [--folder DIR | --ingress URL --admin URL --side URL…] [--json]
                       watch a run live, with the text as it is written; RUN is BATCH/TASK as in the engine
  outrider fleet limit [--folder DIR | --ingress URL --admin URL] [--rpm [PROVIDER=]N] [--tpm [PROVIDER=]N] [--max-budget USD]
                       [--tenant NAME=N]
                       set limits for all batches together, and how many runs of a tenant are active at once; none removes one
  outrider fleet retire URL [--folder DIR | --ingress URL --admin URL]
                       remove the workers at an address from the engine; refused while runs that started there have not ended
  outrider fleet drain [--folder DIR]
                       let workers finish their steps, then shut down; unfinished runs continue at the next up

The folder is fleet by default. Then: outrider batch TASKS --engine restate --ingress URL --admin URL --store ADDRESS, as \`up\` prints it.
Needs the packages @outrider/fleet, @restatedev/restate-sdk and @restatedev/restate-server. See docs/fleet.md.
`;

/** \`outrider fleet\`: a durable engine and its workers, to try out and to look at. */
export async function runFleetCommand(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, {
    switches: ["--help", "-h", "--json"],
    values: [
      ...["--folder", "--workers", "--store", "--drain", "--ingress", "--admin", "--service"],
      ...["--rpm", "--tpm", "--max-budget", "--tenant", "--side"],
    ],
  });
  const [action = "", address, more] = words.rest;
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const run = actions[action];
  const surplus = action === "retire" || action === "watch" ? more : address;
  if (!run || surplus !== undefined)
    throw new RuntimeError(
      "usage",
      `fleet takes ${Object.keys(actions).join(", ")}${surplus ? `, not also ${surplus}` : ""}\n${usage}`,
    );
  try {
    return await run(words);
  } catch (error) {
    throw asOurs(error);
  }
}

const actions: Readonly<Record<string, (words: OwnWords) => Promise<number>>> = { up, status, watch, limit, retire, drain };

async function up(words: OwnWords): Promise<number> {
  const engine = await (await loadFleet()).loadEngine();
  const around = surroundings();
  withdrawKeys(modelKeys);
  const stopping = untilSignal("Draining: steps under way are finished. A second signal does not wait.");
  try {
    await engine.runFleet({
      folder: folderOf(words),
      workers: positiveInteger("--workers", words.value("--workers") ?? "4"),
      store: words.value("--store"),
      from: [process.cwd(), programFolder(), join(homedir(), ".outrider")],
      around,
      signal: stopping,
      graceMs: duration("--drain", words.value("--drain") ?? "25s"),
      onUp: ({ ingress, admin, store, workers }) => {
        const flags = `--engine restate --ingress ${ingress} --admin ${admin} --store ${store}`;
        void print(`The fleet is up: 1 engine, ${workers.length} workers\noutrider batch TASKS ${flags}\n`);
      },
      warn: complain,
    });
    return exitCodes.success;
  } finally {
    setImmediate(() => process.exit()); // whatever a tool left open must not keep it alive
  }
}

async function status(words: OwnWords): Promise<number> {
  const { engine, local, address } = await find(words);
  const found = await engine.fleetStatus(address, words.value("--service"));
  if (words.has("--json")) {
    await print(`${JSON.stringify({ ...found, ...(local && { local }) })}\n`);
    return exitCodes.success;
  }
  const runs = Object.entries(found.runs).map(([name, count]) => `${name} ${count}`);
  const lines = [
    found.isHealthy ? "The engine is healthy" : "The engine is not healthy",
    `runs: ${runs.join(", ") || "none"}`,
    `waiting: ${found.waiting}`,
    ...found.deployments.map(({ endpoint, runs: own }) => `workers at ${endpoint}: ${own} runs`),
    ...(found.limits && found.limits.spentUsd > 0 ? [`spent: $${found.limits.spentUsd.toFixed(4)}`] : []),
    ...Object.entries(found.limits?.rates ?? {}).map(rateLine),
    ...(found.limits?.maxBudgetUsd ? [`budget: $${found.limits.maxBudgetUsd}`] : []),
    ...(local ? [`processes: engine ${local.enginePid}, workers ${local.workers.join(" ")}`] : []),
  ];
  await print(`${lines.join("\n")}\n`);
  return found.isHealthy ? exitCodes.success : exitCodes.error;
}

function rateLine([provider, { requests, tokens }]: [
  string,
  { requests?: number | undefined; tokens?: number | undefined },
]): string {
  const rates = [requests && `${requests} requests`, tokens && `${tokens} tokens`].filter(Boolean).join(", ");
  return `at most: ${rates} per minute (${provider === "*" ? "each provider" : provider})`;
}

async function limit(words: OwnWords): Promise<number> {
  const { engine, address } = await find(words);
  const budget = words.value("--max-budget");
  const rates = ["--rpm", "--tpm"].some((flag) => words.value(flag) === "none") ? null : ratesOf(words);
  const tenants = words.values("--tenant").map((text) => {
    const [, name, count] = /^(.+)=(\d+|none)$/.exec(text) ?? [];
    if (name === undefined || count === undefined)
      throw new RuntimeError("usage", `--tenant is NAME=N, or NAME=none, not ${text}`);
    return [name, count === "none" ? null : positiveInteger("--tenant", count)] as const;
  });
  const given = {
    ...(rates !== undefined && { rates }),
    ...(budget !== undefined && { maxBudgetUsd: budget === "none" ? null : positiveNumber("--max-budget", budget) }),
    ...(tenants.length > 0 && { tenants: Object.fromEntries(tenants) }),
  };
  if (Object.keys(given).length === 0) throw new RuntimeError("usage", `fleet limit takes at least one limit\n${usage}`);
  await engine.limitFleet(address, given, words.value("--service"));
  return exitCodes.success;
}

async function watch(words: OwnWords): Promise<number> {
  const [, runId] = words.rest;
  if (runId === undefined) throw new RuntimeError("usage", `fleet watch takes the id of a run\n${usage}`);
  const { engine, local, address } = await find(words);
  const given = words.values("--side");
  const sides = given.length > 0 || !local?.side ? given : [local.side];
  if (sides.length === 0) throw new RuntimeError("usage", "fleet watch needs --side URL: where workers show what they do");
  const api = new engine.RestateApi(address);
  const service = words.value("--service") ?? engine.defaultService;
  const signal = untilSignal("Not watched any more; the run goes on.");
  for await (const event of engine.watchRun({ sides, runId, signal, hasEnded: () => api.hasEnded(service, runId) })) {
    if (words.has("--json")) await print(`${JSON.stringify(event)}\n`);
    else if (event.type === "text.delta") await print(visible(event.text));
    else if (event.type === "tool.started") await print(`\n[${visible(event.name)}]\n`);
    else if (event.type === "message.ended") await print("\n");
  }
  return exitCodes.success;
}

async function retire(words: OwnWords): Promise<number> {
  const [, endpoint] = words.rest;
  if (endpoint === undefined) throw new RuntimeError("usage", `fleet retire takes the address of workers\n${usage}`);
  const { engine, address } = await find(words);
  await engine.retireWorkers(address, endpoint);
  await print(`The engine knows no workers at ${endpoint} any more\n`);
  return exitCodes.success;
}

/** The engine that is meant: that of the folder, or the one whose addresses are given. */
async function find(words: OwnWords) {
  const engine = await (await loadFleet()).loadEngine();
  const local = engine.readFleet(folderOf(words));
  const ingress = words.value("--ingress") ?? local?.ingress;
  const admin = words.value("--admin") ?? local?.admin;
  if (!ingress || !admin)
    throw new RuntimeError("no-input", `There is no fleet in ${folderOf(words)}; name one with --ingress and --admin`);
  return { engine, local, address: { ingress, admin } };
}

async function drain(words: OwnWords): Promise<number> {
  const engine = await (await loadFleet()).loadEngine();
  const wasUp = await engine.drainFleet(folderOf(words));
  await print(wasUp ? "Drained\n" : `No fleet is up in ${folderOf(words)}\n`);
  return wasUp ? exitCodes.success : exitCodes.noInput;
}

function folderOf(words: OwnWords): string {
  return words.value("--folder") ?? "fleet";
}

/** Where the command is installed; one executable has no file of its own to start from. */
function programFolder(): string {
  const [, file = ""] = process.argv;
  return dirname(!process.versions["bun"] && existsSync(file) ? realpathSync(file) : process.execPath);
}
