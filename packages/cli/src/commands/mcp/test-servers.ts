import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { connectServers } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { print, visible } from "../../terminal/visible.ts";
import { type KnownServers, knownServers } from "./known-servers.ts";
import { readServerWords } from "./server-words.ts";

export async function testServers(args: readonly string[], usage: string): Promise<number> {
  const { positionals: names, json, cwd } = readServerWords(args, { usage, isOpen: false });
  const known = await knownServers(cwd);
  for (const name of names) refuseUnknown(name, known);
  const states = await tryServers(known, names);
  if (json) await print(`${JSON.stringify(states, null, 2)}\n`);
  else if (states.length === 0) await print("No MCP server would start here: outrider mcp list\n");
  else await print(states.map(toLine).join(""));
  const isFine = ({ status }: TriedServer): boolean => status === "connected" || (status === "disabled" && names.length === 0);
  return states.every(isFine) ? exitCodes.success : exitCodes.error;
}

export type TriedServer = {
  readonly name: string;
  readonly status: string;
  readonly error?: string;
  readonly tools: readonly string[];
  /** What of its list a run would leave out. */
  readonly notes?: readonly string[];
  /** How it calls itself, which revision of the protocol it speaks, and what it has beside tools. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly protocolVersion?: string;
  readonly resources?: boolean;
  readonly prompts?: boolean;
};

/** Starts the servers a run here would start, or those of `names`; ends them again. */
export async function tryServers(
  { plan, cwd, env }: KnownServers,
  names: readonly string[] = [],
): Promise<readonly TriedServer[]> {
  const configs = new Map([...plan.configs].filter(([name]) => names.length === 0 || names.includes(name)));
  const warnings: string[] = [];
  const warn = (line: string): void => void warnings.push(line);
  const servers = await connectServers({ ...plan, configs, required: false }, { cwd, env, warn });
  const notesOf = (name: string): string[] => {
    const start = `MCP server ${name}: `;
    return warnings.flatMap((line) => (line.startsWith(start) ? [line.slice(start.length)] : []));
  };
  const states = servers.states.map(({ name, status, error, offers, serverInfo, protocolVersion, resources, prompts }) => ({
    name,
    status,
    ...(error !== undefined && { error }),
    tools: offers.map((tool) => tool.name),
    ...(status === "connected" && notesOf(name).length > 0 && { notes: notesOf(name) }),
    ...(serverInfo && { serverInfo }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(resources && { resources }),
    ...(prompts && { prompts }),
  }));
  await servers.close();
  return states;
}

export function refuseUnknown(name: string, { plan, written }: KnownServers): void {
  if (plan.configs.has(name)) return;
  const isWritten = written.some((server) => server.name === name);
  const guess = nearest(name, [...plan.configs.keys()]);
  const why = isWritten ? "would not start here" : `is not known${guess ? `; did you mean ${guess}?` : ""}`;
  throw new RuntimeError("not-found", `The server ${JSON.stringify(name)} ${why}`, { hint: "outrider mcp list says why" });
}

function toLine({ name, status, error, tools, notes = [], resources, prompts }: TriedServer): string {
  if (status === "disabled") return `${visible(name)}  is switched off\n`;
  if (status !== "connected") return `${visible(name)}  ${status}: ${visible(error ?? "no reason given")}\n`;
  const names = tools.length > 0 ? `: ${visible(tools.join(", "))}` : "";
  const beside = [...(resources ? ["has resources"] : []), ...(prompts ? ["has prompts"] : []), ...notes.map(visible)];
  return `${[`${visible(name)}  works, ${tools.length} ${tools.length === 1 ? "tool" : "tools"}${names}`, ...beside].join("; ")}\n`;
}
