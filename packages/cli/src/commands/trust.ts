import { resolve } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { outriderHome } from "@outrider/runtime/host";
import {
  type Executor,
  forgetTrust,
  inspectProject,
  listTrust,
  type ProjectInspection,
  rememberTrust,
} from "@outrider/runtime/admin";
import { exitCodes } from "../exit-codes.ts";
import { lookAtProject, type Project } from "../request/project.ts";
import { print, visible } from "../terminal/visible.ts";
import { parseOwnWords } from "../flags/words.ts";

const usage = `Usage:
  outrider trust [--cwd DIR] [--yes] [--json]   show what the project would run or loosen, ask, and trust exactly that
  outrider trust --show [--json]                only show it, and the fingerprint
  outrider trust --revoke [--cwd DIR]           stop trusting the project
  outrider trust --list [--json]                list trusted projects

In CI: OUTRIDER_TRUST_PROJECT=sha256:… trusts exactly the content with this fingerprint;
OUTRIDER_TRUST_PROJECT=1 trusts whatever is checked out, which is only for your own branches.
`;

/** Says once that a project's own hooks, servers and rules count: for what is shown, until it changes. */
export async function runTrust(args: readonly string[]): Promise<number> {
  const words = parseOwnWords(args, {
    command: "trust",
    usage,
    switches: ["--list", "--revoke", "--show", "--json", "--yes", "-y", "--help", "-h"],
    values: ["--cwd"],
  });
  const json = words.has("--json");
  if (words.has("--help") || words.has("-h")) return await say(usage);
  if (["--list", "--revoke", "--show"].filter((flag) => words.has(flag)).length > 1)
    throw new RuntimeError("usage", `trust does one thing at a time\n${usage}`);
  if (words.has("--list")) return await list(json);
  if (words.has("--revoke")) return await revoke(words.value("--cwd"), json);
  const project = await lookAtProject({ cwd: words.value("--cwd") });
  const { outriderHome: home, root, layers } = project;
  const inspection = await inspectProject({ outriderHome: home, root, layers, env: process.env });
  const view = { project, inspection };
  if (words.has("--show")) return await say(json ? toJson(view) : describe(view));
  return await decide(view, { json, yes: words.has("--yes") || words.has("-y") });
}

type View = { readonly project: Project; readonly inspection: ProjectInspection };

async function decide(view: View, { json, yes }: { json: boolean; yes: boolean }): Promise<number> {
  const { project, inspection } = view;
  const { trusted, reason } = project.trust;
  const willTrust = yes && !trusted && inspection.problem === undefined;
  if (!json) await print(describe(view, { willTrust }));
  if (inspection.problem !== undefined) throw new RuntimeError("config", `It cannot be trusted: ${visible(inspection.problem)}`);
  const settled = trusted || inspection.executors.length === 0;
  if (!settled && !yes && !(await confirm())) {
    if (json) await print(toJson(view));
    process.stderr.write("outrider: not trusted. Without a terminal to ask on, --yes says it\n");
    return exitCodes.error;
  }
  if (settled) return json ? await say(toJson(view)) : await say(trusted ? `Trusted already: ${visible(reason)}\n` : "");
  const path = await rememberTrust(inspection, { outriderHome: project.outriderHome, env: process.env });
  if (json)
    return await say(
      toJson({ project: { ...project, trust: { ...project.trust, trusted: true, reason: "Trusted now" } }, inspection }),
    );
  return await say(`Trusted until something of it changes (${visible(path)})\n`);
}

/** A no without anybody to ask. */
async function confirm(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question("Trust this? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}

function describe({ project, inspection }: View, { willTrust = false } = {}): string {
  const { root, trust } = project;
  const { executors, files, fingerprint, problem } = inspection;
  const lines = [`Project: ${root}`];
  if (executors.length === 0) lines.push("It runs and loosens nothing, so there is nothing to trust.");
  else lines.push("When it is trusted, this runs or counts:", ...executors.map((one) => describeExecutor(one, root)));
  if (problem !== undefined) lines.push(`It cannot be trusted: ${problem}`);
  if (executors.length > 0 && problem === undefined) {
    lines.push(
      `What counts: ${files.length} ${files.length === 1 ? "file" : "files"}${files.length > 0 ? `: ${listed(files.map(([name]) => name))}` : ""}`,
    );
    lines.push(`Fingerprint: sha256:${fingerprint}`);
  }
  if (executors.length > 0 && !willTrust) lines.push(`Trusted: ${trust.trusted ? "yes" : "no"} (${trust.reason})`);
  return lines.map((line) => `${visible(line)}\n`).join("");
}

function describeExecutor({ kind, what, source }: Executor, root: string): string {
  const place = source.startsWith(`${root}/`) ? source.slice(root.length + 1) : source;
  return `  ${kind.padEnd(12)} ${what}  (${place})`;
}

function listed(names: readonly string[]): string {
  return names.length > 20 ? `${names.slice(0, 20).join(", ")} and ${names.length - 20} more` : names.join(", ");
}

function toJson({ project, inspection }: View): string {
  const { trusted, reason } = project.trust;
  const { root, executors, fingerprint, files, problem } = inspection;
  return `${JSON.stringify({ root, trusted, reason, fingerprint: fingerprint && `sha256:${fingerprint}`, executors, files: files.map(([name]) => name), ...(problem !== undefined && { problem }) }, null, 2)}\n`;
}

async function list(json: boolean): Promise<number> {
  const records = listTrust(outriderHome(process.env)).map(({ root, at, fingerprint }) => ({
    root,
    at,
    fingerprint: `sha256:${fingerprint}`,
  }));
  if (json) return await say(`${JSON.stringify(records, null, 2)}\n`);
  return await say(records.map(({ root, at }) => `${at.slice(0, 10)}  ${visible(root)}\n`).join("") || "No project is trusted\n");
}

/** Also for a project that is gone, by the path it had. */
async function revoke(cwd: string | undefined, json: boolean): Promise<number> {
  const home = outriderHome(process.env);
  const path = resolve(cwd ?? ".");
  const root = await lookAtProject({ cwd, settingSources: "" }).then(
    (project) => project.root,
    () => path,
  );
  const revoked = (await forgetTrust(home, root)) || (root !== path && (await forgetTrust(home, path)));
  if (json) return await say(`${JSON.stringify({ root, revoked })}\n`);
  return await say(`${visible(root)} ${revoked ? "is trusted no longer" : "was not trusted"}\n`);
}

async function say(text: string): Promise<number> {
  await print(text);
  return exitCodes.success;
}
