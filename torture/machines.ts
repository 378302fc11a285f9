import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { findEngine } from "./engine-nodes.ts";
import { Tally } from "./report.ts";

export type MachinesTorture = {
  /** What runs in the namespaces. */
  readonly program: string;
  readonly command: string;
  readonly project: string;
  readonly tasks: number;
  readonly seed: number;
};

const ownNamespaces = ["--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** A fleet on three machines that are network namespaces: with the process that made them they are gone, whatever happens. */
export async function rehearseMachines({ program, command, project, tasks, seed }: MachinesTorture): Promise<Tally> {
  const tally = new Tally("a fleet on three machines");
  if (!(await canSeparate())) {
    tally.count("machines: there are no network namespaces here, or no ip and tc");
    return tally;
  }
  findEngine(project);
  const words = [process.execPath, program, project, command, String(tasks), String(seed)];
  const child = spawn("unshare", [...ownNamespaces, ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const told = await text(child.stdout);
  try {
    const { counts, violations } = JSON.parse(told) as Pick<Tally, "counts" | "violations">; // what the child writes
    for (const [what, count] of Object.entries(counts)) tally.count(what, count);
    for (const violation of violations) tally.violate(violation);
  } catch {
    tally.violate(`The rehearsal did not come to its end: ${told.slice(-300)}`);
  }
  return tally;
}

async function canSeparate(): Promise<boolean> {
  const script =
    "ip link add switch type bridge && ip link add cable type veth peer name socket && tc qdisc add dev cable root tbf rate 1mbit burst 32kbit latency 1s";
  const child = spawn("unshare", [...ownNamespaces, "sh", "-c", script], { stdio: "ignore" });
  return await new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(code === 0));
  });
}
