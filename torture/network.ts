import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";

/** The networks: that of the fleet, and the way to the model and to the outside. This process is the last address of both. */
const networks = { fleet: "10.77.0", outside: "10.78.0" } as const;
export type Network = keyof typeof networks;

/** A machine with networks and a folder of its own. */
export type Machine = {
  readonly name: string;
  address(network: Network): string;
  /** Like `spawn`, on this machine. */
  readonly launch: typeof spawn;
  /** The cable between the machine and a network: neither side is told that the other is gone. */
  plug(network: Network, isPlugged: boolean): void;
  /** So many bits per second, each way. */
  slow(network: Network, rate: string): void;
};

export const ownAddress = (network: Network): string => `${networks[network]}.254`;

/** Both networks, as switches. Only in namespaces of our own: `ip` changes the network of whoever calls it. */
export function openNetworks(): void {
  ip("link set lo up");
  for (const network of Object.keys(networks) as Network[]) {
    ip(`link add ${network} type bridge`);
    ip(`addr add ${ownAddress(network)}/24 dev ${network}`);
    ip(`link set ${network} up`);
  }
}

/** `ownFolder` is empty on each machine, and no other machine sees what is written there. */
export async function openMachine(number: number, ownFolder: string): Promise<Machine> {
  const name = `m${number}`;
  const script = 'mount -t tmpfs none "$1" && echo up && exec sleep infinity';
  const machine = spawn("unshare", ["--net", "--mount", "sh", "-c", script, "sh", ownFolder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(machine.stdout, "data");
  const enter = ["-t", String(machine.pid), "--net", "--mount", "--"];
  const inside = (words: string): void => void execFileSync("nsenter", [...enter, "ip", ...words.split(" ")]);
  inside("link set lo up");
  for (const [network, address] of Object.entries(networks)) {
    ip(`link add ${name}-${network} type veth peer name ${network} netns ${machine.pid}`);
    ip(`link set ${name}-${network} master ${network} up`);
    inside(`addr add ${address}.${number}/24 dev ${network}`);
    inside(`link set ${network} up`);
  }
  const launch = (program: string, words: readonly string[], options: object): ChildProcess => {
    const { cwd = "/" } = options as { cwd?: string };
    return spawn("nsenter", [...enter, "sh", "-c", 'cd "$0" && exec "$@"', cwd, program, ...words], options);
  };
  return {
    name,
    address: (network) => `${networks[network]}.${number}`,
    launch: launch as typeof spawn, // of its forms, the one with words and options
    plug: (network, isPlugged) => ip(`link set ${name}-${network} ${isPlugged ? "up" : "down"}`),
    slow(network, rate) {
      const limit = ["root", "tbf", "rate", rate, "burst", "32kbit", "latency", "2s"];
      execFileSync("tc", ["qdisc", "add", "dev", `${name}-${network}`, ...limit]);
      execFileSync("nsenter", [...enter, "tc", "qdisc", "add", "dev", network, ...limit]);
    },
  };
}

function ip(words: string): void {
  execFileSync("ip", words.split(" "));
}
