import { execFile } from "node:child_process";
import { accessSync, constants, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { outriderHome, makeFolder } from "@outrider/runtime/host";
import { bundledRipgrep, detectSandbox, whyProcessesMayStay } from "@outrider/runtime/admin";
import type { Finding } from "./finding.ts";

type Look = Promise<Omit<Finding, "about">>;

const oldestNode = [20, 19] as const;

export async function lookAtNode(): Look {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isEnough = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isEnough) return { state: "ok", says: process.version };
  return { state: "wrong", says: `${process.version} is too old`, todo: `Install Node ${oldestNode.join(".")} or later` };
}

/** Sessions are written there; a run that cannot write loses what it could be resumed with. */
export async function lookAtHome(): Look {
  const home = outriderHome(process.env);
  const probe = join(home, `.doctor-${process.pid}`);
  try {
    makeFolder(home);
    writeFileSync(probe, "");
    rmSync(probe);
    return { state: "ok", says: `${home} can be written` };
  } catch (error) {
    const says = `${home} cannot be written: ${error instanceof Error ? error.message : error}`;
    return { state: "wrong", says, todo: "Set OUTRIDER_HOME to a folder of yours, or run with --no-session-persistence" };
  }
}

export async function lookAtSandbox(): Look {
  const sandbox = await detectSandbox();
  if (sandbox.available) return { state: "ok", says: `bubblewrap ${sandbox.version} (${sandbox.path})` };
  const todo = process.platform === "linux" ? "Install bubblewrap and socat; see docs/sandbox.md" : undefined;
  return { state: "note", says: `none: ${sandbox.reason}. Commands run outside, as rules allow`, todo };
}

/** Whether all that commands start ends with a run, also when that is killed. */
export async function lookAtProcesses(): Look {
  const why = whyProcessesMayStay();
  if (why === undefined) return { state: "ok", says: "what commands start ends with their run, also when that is killed" };
  return { state: "note", says: `a program that clears its environment may outlive a run that is killed: ${why}` };
}

export async function lookAtProgram(name: string, { needed, without }: { needed: boolean; without: string }): Look {
  const found = await versionOf(name);
  if (found !== undefined) return { state: "ok", says: found };
  return { state: needed ? "wrong" : "note", says: `${name} is not on PATH: ${without}`, todo: `Install ${name}` };
}

/** The one installed beside us comes first. */
export async function lookAtRipgrep(): Look {
  const bundled = await bundledRipgrep();
  const version = bundled && (await versionOf(bundled));
  if (version) return { state: "ok", says: `${version} (${bundled})` };
  return await lookAtProgram("rg", { needed: false, without: "searches take the slower way that is built in" });
}

async function versionOf(name: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(name, ["--version"], { timeout: 5_000 });
    return stdout.split("\n")[0]?.trim();
  } catch {
    return undefined;
  }
}

/** Without the user and password that may be in the addresses. */
export async function lookAtProxy(): Look {
  const names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
  const set = names.flatMap((name) => {
    const value = process.env[name.toLowerCase()] ?? process.env[name];
    return value ? [`${name}=${value.replace(/\/\/[^@/]*@/, "//")}`] : [];
  });
  const bundle = process.env["SSL_CERT_FILE"] ?? process.env["NODE_EXTRA_CA_CERTS"];
  if (bundle && !isReadable(bundle)) {
    return { state: "wrong", says: `${bundle} cannot be read`, todo: "Mend SSL_CERT_FILE or NODE_EXTRA_CA_CERTS" };
  }
  return { state: "ok", says: [...set, ...(bundle ? [`certificates of ${bundle}`] : [])].join(", ") || "none" };
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
