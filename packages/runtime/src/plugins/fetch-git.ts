import { join } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { bundleLimits } from "./content-hash.ts";
import type { PluginSource } from "./plugin-source.ts";

type GitSource = Extract<PluginSource, { type: "git" }>;

const timeoutMs = 120_000;

/**
 * Files of one commit, in `folder`; answers the commit. Git is started as a program with words, never through a shell, with no configuration, hooks,
 * filters, submodules or credentials of anybody, and only for the protocol of the address.
 */
export async function fetchGit(source: GitSource, folder: string, { signal, env }: GitWays): Promise<string> {
  const { url, ref, sha } = source;
  makeFolder(folder);
  const git: Git = (words, text = false) =>
    runGit(words, { cwd: folder, protocol: new URL(url).protocol.slice(0, -1), signal, env, text });
  await git(["init", "--quiet", "--template="]);
  const fetched = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
  const wanted = sha ?? ref ?? "HEAD";
  const isCommit = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(wanted);
  try {
    await git([...fetched, "--depth=1", "--", url, `+${wanted}:refs/outrider/wanted`]);
  } catch (error) {
    if (!isCommit) throw new RuntimeError("not-found", `${url} has no ${wanted}, or cannot be reached: ${messageOf(error)}`);
    await git([...fetched, "--", url, "+refs/heads/*:refs/outrider/heads/*", "+refs/tags/*:refs/outrider/tags/*"]);
  }
  const commit = (
    await git(["rev-parse", "--verify", "--quiet", isCommit ? `${wanted}^{commit}` : "refs/outrider/wanted^{commit}"], true)
  ).trim();
  if (sha !== undefined && commit.toLowerCase() !== sha.toLowerCase())
    throw new RuntimeError("config", `${url} answered with the commit ${commit} for ${sha}`);
  checkTree(await git(["ls-tree", "-r", "-l", "-z", commit], true), url);
  await git(["checkout", "--quiet", "--detach", "--force", commit]);
  return commit;
}

export type GitWays = { readonly signal: AbortSignal; readonly env: Readonly<Record<string, string | undefined>> };
type Git = (words: readonly string[], text?: boolean) => Promise<string>;

/** Before anything is written out. */
function checkTree(listed: string, url: string): void {
  const entries = listed.split("\0").filter(Boolean);
  const bytes = entries.reduce((sum, entry) => sum + (Number(entry.split("\t")[0]?.trim().split(/\s+/)[3]) || 0), 0);
  if (entries.length > bundleLimits.files || bytes > bundleLimits.bytes)
    throw new RuntimeError("config", `${url} is too large: ${entries.length} files, ${bytes} bytes`);
}

/** Nothing of the user's or the system's configuration counts, and nothing that a repository names is started. */
const inert = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.attributesFile=/dev/null",
  "core.protectHFS=true",
  "core.protectNTFS=true",
  "credential.helper=",
  "http.followRedirects=false",
  "protocol.allow=never",
  "submodule.recurse=false",
  "transfer.fsckObjects=true",
  "fetch.recurseSubmodules=false",
  "gc.auto=0",
];

type GitRun = GitWays & { readonly cwd: string; readonly protocol: string; readonly text: boolean };

async function runGit(words: readonly string[], { cwd, protocol, signal, env, text }: GitRun): Promise<string> {
  const { execFile } = process.getBuiltinModule("node:child_process");
  const settings = [...inert, `protocol.${protocol}.allow=always`].flatMap((setting) => ["-c", setting]);
  const passed = ["PATH", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR"];
  return await new Promise((resolve, reject) => {
    const options = {
      cwd,
      signal,
      timeout: timeoutMs,
      maxBuffer: text ? 64 * 1024 * 1024 : 1024 * 1024,
      env: {
        ...Object.fromEntries(passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
        HOME: join(cwd, ".git"),
        LC_ALL: "C",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_TERMINAL_PROMPT: "0",
        GIT_ASKPASS: "",
        SSH_ASKPASS: "",
        GIT_ALLOW_PROTOCOL: protocol,
        GIT_LFS_SKIP_SMUDGE: "1",
      },
    };
    execFile("git", [...settings, ...words], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const line = stderr.trim().split("\n").at(-1)?.trim() || error.message.split("\n")[0];
      reject(new RuntimeError("not-found", `git: ${line}`));
    });
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
