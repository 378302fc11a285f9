import { checkNamedProvider, loadUserSettings, outriderHome, resolveLayers } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { parseOwnWords } from "../../flags/words.ts";
import { lookAtProject } from "../../request/project.ts";
import { print, visible } from "../../terminal/visible.ts";
import { knownServers } from "../mcp/known-servers.ts";
import { tryServers } from "../mcp/test-servers.ts";
import { type Finding, finding } from "./finding.ts";
import { lookAtHome, lookAtNode, lookAtProcesses, lookAtProgram, lookAtProxy, lookAtRipgrep, lookAtSandbox } from "./machine.ts";

const usage = `Usage:
  outrider doctor [--offline] [--json] [--cwd DIR]
                                          check what a run here needs: Node, key and network, proxy, home, sandbox, programs,
                                          settings, MCP servers; exit code 78 if something keeps runs from working
    --offline                             do not contact providers or start servers
`;

type Look = Promise<Omit<Finding, "about">>;

/** What works, what does not, and what to do. Changes nothing and asks no model. */
export async function runDoctor(args: readonly string[]): Promise<number> {
  const words = parseOwnWords(args, {
    command: "doctor",
    usage,
    switches: ["--offline", "--json", "--help", "-h"],
    values: ["--cwd"],
  });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const cwd = words.value("--cwd");
  const isOnline = !words.has("--offline");
  const findings = await Promise.all([
    finding("node", lookAtNode),
    ...(isOnline ? [finding("provider", lookAtProvider)] : []),
    finding("proxy", lookAtProxy),
    finding("home", lookAtHome),
    finding("settings", () => lookAtSettings(cwd)),
    finding("sandbox", lookAtSandbox),
    finding("processes", lookAtProcesses),
    finding("bash", () => lookAtProgram("bash", { needed: true, without: "commands cannot run" })),
    finding("git", () =>
      lookAtProgram("git", { needed: false, without: "no checkpoints of what commands change, no state of the repository" }),
    ),
    finding("ripgrep", lookAtRipgrep),
    ...(isOnline ? [finding("mcp", () => lookAtServers(cwd))] : []),
  ]);
  if (words.has("--json")) await print(`${JSON.stringify(findings, null, 2)}\n`);
  else await print(findings.map(toLines).join(""));
  return findings.some(({ state }) => state === "wrong") ? exitCodes.config : exitCodes.success;
}

async function lookAtProvider(): Look {
  const settings = await loadUserSettings(outriderHome(process.env));
  const { title, check } = await checkNamedProvider(undefined, settings, process.env);
  if (check.type === "ok")
    return { state: "ok", says: `${title} answers${check.models.length > 0 ? `, ${check.models.length} models` : ""}` };
  return { state: "wrong", says: `${title}: ${check.error.message}`, todo: check.error.hint };
}

async function lookAtSettings(cwd: string | undefined): Look {
  const { layers, trust } = await lookAtProject({ cwd });
  const { warnings, ignored } = await resolveLayers(layers, { trusted: trust.trusted });
  if (warnings.length > 0) return { state: "note", says: warnings.join("; "), todo: "See outrider config --explain" };
  const files = layers.length === 0 ? "no files" : layers.map(({ path }) => path).join(", ");
  if (ignored.length === 0) return { state: "ok", says: files };
  const says = `${files}; ${ignored.length} of the project's own entries do not count: ${trust.reason}`;
  return { state: "note", says, todo: "Look at them with outrider trust --show" };
}

async function lookAtServers(cwd: string | undefined): Look {
  const known = await knownServers(cwd);
  const servers = await tryServers(known);
  const idle = known.written.length - servers.length;
  const failed = servers.filter(({ status }) => status !== "connected");
  if (failed.length > 0) {
    const says = failed.map(({ name, status, error }) => `${name}: ${error ?? status}`).join("; ");
    return { state: "wrong", says, todo: "See outrider mcp list" };
  }
  if (idle > 0)
    return { state: "note", says: `${servers.length} work, ${idle} would not start`, todo: "outrider mcp list says why" };
  return {
    state: "ok",
    says: servers.length === 0 ? "none" : servers.map(({ name, tools }) => `${name} (${tools.length} tools)`).join(", "),
  };
}

function toLines({ about, state, says, todo = "" }: Finding): string {
  const [head = "", ...more] = [says, ...todo.split("\n").filter(Boolean)].map(visible);
  return `${state.padEnd(6)} ${about.padEnd(9)} ${head}\n${more.map((line) => `${" ".repeat(17)}${line}\n`).join("")}`;
}
