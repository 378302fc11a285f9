import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { launcher } from "./launcher.ts";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { createRandom, inParallel, Tally } from "./report.ts";

/** However busy the machine is: longer than this nothing takes that works. */
const patienceMs = 60_000;

/** How commands leave something in the background; `mark` is what they sleep for. */
const kinds: Readonly<Record<string, (mark: string) => string>> = {
  child: (mark) => `sleep ${mark} &`,
  session: (mark) => `setsid sleep ${mark} > /dev/null 2>&1 &`,
  nohup: (mark) => `nohup sleep ${mark} > /dev/null 2>&1 &`,
  "without environment": (mark) => `(env -i setsid sleep ${mark} > /dev/null 2>&1 < /dev/null &)`,
  deaf: (mark) => `(setsid bash -c 'trap "" TERM HUP INT; sleep ${mark}; sleep ${mark}' > /dev/null 2>&1 &)`,
  daemon: (mark) =>
    `perl -e 'use POSIX; exit if fork; POSIX::setsid(); exit if fork; POSIX::close($_) for 0..255; %ENV = (); exec "/bin/sleep", "${mark}"'`,
};

/** Kills runs at random moments while their commands leave daemons of every kind, and counts who lives: before, afterwards, and beside. */
export async function countSurvivors(options: { command: string; kills: number; seed: number }): Promise<Tally> {
  const tally = new Tally("kill -9 with daemons of every kind");
  const random = createRandom(options.seed);
  const usable = Object.entries(kinds).filter(([name]) => name !== "daemon" || hasPerl());
  const jobs = Array.from({ length: options.kills }, (_, index) => ({
    index,
    box: index % 3 === 0,
    /** Before all of them are up, at once, and later. */
    needed: random(usable.length + 1),
    afterMs: random(400),
  }));
  await inParallel(jobs, 2, async ({ index, box, needed, afterMs }) => {
    const folder = mkdtempSync(join(tmpdir(), "outrider-torture-census-"));
    const mark = `4${process.pid}.${String(index).padStart(5, "0")}`;
    const label = `${index}${box ? ", boxed" : ""}, ${needed} up, then ${afterMs} ms`;
    const command = [...usable.map(([, leave]) => leave(mark)), "touch up", `sleep ${mark}`].join("\n");
    const server = await startModelServer({ replies: () => ({ calls: [{ name: "Bash", input: { command } }] }) });
    const bystander = spawn("sleep", [`6${mark}`], { stdio: "ignore" });
    mkdirSync(join(folder, "work"));
    const flags = ["--sandbox", box ? "require" : "off", "--output-format", "json", "--allowedTools", "Bash"];
    const child = spawn(launcher, [options.command, "-p", "go", ...flags], {
      cwd: join(folder, "work"),
      stdio: "ignore",
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        OUTRIDER_HOME: join(folder, "home"),
        ANTHROPIC_API_KEY: "torture",
        ANTHROPIC_BASE_URL: server.url,
      },
    });
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    try {
      const isUp = (): boolean =>
        sleepers(mark).length >= needed && (needed < usable.length || existsSync(join(folder, "work/up")));
      if (!(await until(isUp))) tally.violate(`${label}: its command never came so far`);
      await pause(afterMs);
      const alive = sleepers(mark).length;
      child.kill("SIGKILL");
      await exited;
      await until(() => sleepers(mark).length === 0);
      const left = sleepers(mark);
      if (left.length > 0) tally.violate(`${label}: ${left.length} of ${alive} processes live on`);
      if (bystander.exitCode !== null || bystander.signalCode !== null) tally.violate(`${label}: a bystander was ended`);
      tally.count("kills");
      tally.count("processes alive at the kill", alive);
      tally.count("left afterwards", left.length);
      for (const pid of left) process.kill(pid, "SIGKILL");
    } catch (error) {
      tally.violate(`${label}: ${error instanceof Error ? error.message : error}`);
    } finally {
      child.kill("SIGKILL");
      bystander.kill("SIGKILL");
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return tally;
}

async function until(check: () => boolean): Promise<boolean> {
  const limit = Date.now() + patienceMs;
  while (!check()) {
    if (Date.now() > limit) return false;
    await pause(20);
  }
  return true;
}

export function sleepers(mark: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8") === `sleep\0${mark}\0` ? [Number(name)] : sleeperOfPerl(name, mark);
    } catch {
      return [];
    }
  });
}

/** Which is called by its path. */
function sleeperOfPerl(name: string, mark: string): number[] {
  return readFileSync(`/proc/${name}/cmdline`, "utf8") === `/bin/sleep\0${mark}\0` ? [Number(name)] : [];
}

function hasPerl(): boolean {
  return spawnSync("perl", ["-MPOSIX", "-e", "1"]).status === 0;
}
