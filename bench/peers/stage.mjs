import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startModelServer } from "../../packages/runtime/dist/testing.js";

/** How each peer calls its shell. */
const shells = {
  Bash: (command) => ({ command, description: "nothing" }),
  bash: (command) => ({ command, description: "nothing" }),
  exec_command: (command) => ({ cmd: command }),
  shell_command: (command) => ({ command }),
  shell: (command) => ({ command: command.split(" ") }),
  run_shell_command: (command) => ({ command, description: "nothing" }),
};

/** A scripted model that speaks every wire. Requests without tools are about titles and the like. */
export async function openStage() {
  let script;
  let seen = [];
  const server = await startModelServer({
    keepsRequests: false,
    replies({ body }) {
      const shell = Object.keys(shells).find((name) => JSON.stringify(body?.tools ?? null).includes(`"name":"${name}"`));
      if (shell === undefined) return { text: "pong" };
      seen.push(performance.now());
      return script({ turn: seen.length, run: (command) => ({ calls: [{ name: shell, input: shells[shell](command) }] }) });
    },
  });
  const follow = (next) => {
    script = next;
    seen = [];
  };
  return {
    url: server.url,
    close: () => server.close(),
    /** What follows is answered by `script({ turn, run })`: an answer, or `run(command)`. */
    follow,
    /** What follows is a run of this many turns: commands, no two alike, which some take for going round in circles, then an answer. */
    play: (turns) => follow(({ turn, run }) => (turn % turns === 0 ? { text: "pong" } : run(`true ${turn}`))),
    /** When requests of the conversation came. */
    get seen() {
      return seen;
    },
  };
}

/** A home and a project of the contestant's own, empty but for what points it at the model. */
export function openPlace(peer, { url, bin, node = process.execPath }) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-peer-"));
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  for (const made of [home, project]) mkdirSync(made);
  peer.prepare(home, url);
  const path = [dirname(node), process.env.PATH].join(":");
  const env = { HOME: home, PATH: path, LANG: "C.UTF-8", TMPDIR: folder, ...peer.env(url) };
  return {
    words: peer.ask({ home, bin }),
    options: { cwd: project, env },
    // What a peer leaves running may still write there.
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }),
  };
}

/** Runs to the end; rejects when that is not success, or takes too long. Memory is the most that the process and its children held at once. */
export async function runOnce(words, { limitMs, ...options }) {
  const { startedAt, ms, peak, code, output } = await runToEnd(words, { limitMs, ...options });
  if (code === undefined) throw new Error(`it did not end within ${limitMs / 1000} s`);
  if (code !== 0) throw new Error(`exit code ${code}: ${output.trim().split("\n").at(-1)?.slice(0, 160)}`);
  return { startedAt, ms, peak };
}

/** However it ends; without a `code` it did not within the limit. `onStart` is given its process. */
export async function runToEnd(
  [program, ...words],
  { cwd, env, limitMs, watchesMemory = false, watchesLeftovers = false, onStart },
) {
  const startedAt = performance.now();
  const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let late = false;
  let [output, peak] = ["", 0];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output = (output + text).slice(-2_000)));
  const ticks = watchesMemory ? setInterval(() => (peak = Math.max(peak, memoryOf(child.pid))), 20) : undefined;
  const limit = setTimeout(() => {
    late = true;
    killGroup(child);
  }, limitMs);
  onStart?.(child);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on("error", reject).on("exit", (...how) => resolve(how));
  });
  const endedAt = performance.now();
  clearInterval(ticks);
  clearTimeout(limit);
  if (!watchesLeftovers) killGroup(child); // whatever it left behind
  return { startedAt, ms: endedAt - startedAt, peak, code: late ? undefined : (code ?? signal), output };
}

/** The group that was started here, and nobody else. */
export function killGroup({ pid }) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it is gone
  }
}

/** Resident bytes of a process and all below it. */
export function memoryOf(top) {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(statOf);
  const isBelow = (pid) => pid === top || processes.some((one) => one.pid === pid && one.parent > 1 && isBelow(one.parent));
  return processes.filter(({ pid }) => isBelow(pid)).reduce((sum, { bytes }) => sum + bytes, 0);
}

function statOf(name) {
  try {
    const fields = readFileSync(`/proc/${name}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return [{ pid: Number(name), parent: Number(fields[1]), bytes: Number(fields[21]) * 4096 }];
  } catch {
    return []; // it ended meanwhile
  }
}
