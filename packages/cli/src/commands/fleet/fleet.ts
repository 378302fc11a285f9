import { homedir } from "node:os";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { modelKeys } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { duration, positiveInteger } from "../../flags/numbers.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { surroundings } from "../../request/plan-run.ts";
import { withdrawKeys } from "../../request/withdraw-keys.ts";
import { complain } from "../../run/say.ts";
import { print } from "../../terminal/visible.ts";
import { asOurs, loadFleet } from "../batch/load-fleet.ts";
import { untilSignal } from "./until-signal.ts";

const usage = `Usage:
  outrider fleet up [--folder DIR] [--workers N] [--store ADDRESS] [--drain TIME]
                       an engine and N workers (4) on this machine, for trying out; until a signal, and again with the same folder
  outrider fleet status [--folder DIR | --ingress URL --admin URL] [--service NAME] [--json]
                       runs by how they stand, how many wait, and which workers the engine knows
  outrider fleet drain [--folder DIR]
                       workers finish their steps, then it ends; what has not ended goes on when it is up again

The folder is fleet when absent. Then: outrider batch TASKS --engine restate --ingress URL --admin URL --store ADDRESS, as \`up\` prints it.
Needs the packages @outrider/fleet, @restatedev/restate-sdk and @restatedev/restate-server beside this command. See docs/fleet.md.
`;

/** \`outrider fleet\`: a durable engine and its workers, to try out and to look at. */
export async function runFleetCommand(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, {
    switches: ["--help", "-h", "--json"],
    values: ["--folder", "--workers", "--store", "--drain", "--ingress", "--admin", "--service"],
  });
  const [action, more] = words.rest;
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  if (more !== undefined || (action !== "up" && action !== "status" && action !== "drain"))
    throw new RuntimeError("usage", `fleet takes up, status or drain${more === undefined ? "" : `, not also ${more}`}\n${usage}`);
  try {
    return await { up, status, drain }[action](words);
  } catch (error) {
    throw asOurs(error);
  }
}

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
      from: [process.cwd(), import.meta.dirname ?? __dirname, join(homedir(), ".outrider")],
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
  const engine = await (await loadFleet()).loadEngine();
  const local = engine.readFleet(folderOf(words));
  const ingress = words.value("--ingress") ?? local?.ingress;
  const admin = words.value("--admin") ?? local?.admin;
  if (!ingress || !admin)
    throw new RuntimeError("no-input", `There is no fleet in ${folderOf(words)}; name one with --ingress and --admin`);
  const found = await engine.fleetStatus({ ingress, admin }, words.value("--service"));
  if (words.has("--json")) {
    await print(`${JSON.stringify({ ...found, ...(local && { local }) })}\n`);
    return exitCodes.success;
  }
  const runs = Object.entries(found.runs).map(([name, count]) => `${name} ${count}`);
  const lines = [
    found.isHealthy ? "The engine is healthy" : "The engine is not healthy",
    `runs: ${runs.join(", ") || "none"}`,
    `waiting: ${found.waiting}`,
    ...found.deployments.map((endpoint) => `workers at ${endpoint}`),
    ...(local ? [`processes: engine ${local.enginePid}, workers ${local.workers.join(" ")}`] : []),
  ];
  await print(`${lines.join("\n")}\n`);
  return found.isHealthy ? exitCodes.success : exitCodes.error;
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
