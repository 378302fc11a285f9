import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { parseCommand } from "../packages/runtime/src/permissions/parse-command.ts";
import type { Program } from "../packages/runtime/src/permissions/parsed-command.ts";
import { keepsMoving } from "./support/keeps-moving.ts";
import { createRandom } from "./support/random-commands.ts";
import { damage, shellGrammar } from "./support/random-shell.ts";

/** CI asks for 100,000: OUTRIDER_PROPERTY_COMMANDS=100000 npm test -- permissions-bash. A failure names its seed. */
const count = Number(process.env["OUTRIDER_PROPERTY_COMMANDS"] ?? 3_000);
const seed = Number(process.env["OUTRIDER_PROPERTY_SEED"] ?? 20_261_115);
const batch = 1_000;
/** For one command, which may use a second of processor: milliseconds on a quiet machine. */
const silenceMs = 60_000;
const drivers = 2;

/** Programs that only write their name into the log. Nothing else is on the PATH but what runs them. */
const stubs = ["alpha", "beta", "gamma", "delta", "rm", "curl", "make"];
const runners = ["bash", "sh", "env", "xargs", "find", "timeout", "nice", "nohup", "setsid", "stdbuf"];

const line = shellGrammar({ programs: stubs, files: stubs });

const top = mkdtempSync(join(tmpdir(), "outrider-jail-"));
after(() => rmSync(top, { recursive: true, force: true }));

describe("what bash runs", () => {
  it("is always listed by the parser, unless it says that it does not understand", {
    timeout: 3_600_000,
    skip: process.platform !== "linux",
  }, async () => {
    const random = createRandom(seed);
    let understood = 0;
    let ran = 0;
    const problems: string[] = [];
    let generated = 0;
    const work = async (jail: string): Promise<void> => {
      prepareJail(jail);
      while (generated < count) {
        const size = Math.min(batch, count - generated);
        generated += size;
        // What the parser does not understand is never allowed by parts, whatever it would run.
        const known = Array.from({ length: size }, () => damage(random, line(random)).replaceAll("/", "")).flatMap((command) => {
          // Without a slash nothing outside the jail can be named.
          const listed = listedIn(command);
          return listed ? [{ command, listed }] : [];
        });
        understood += known.length;
        const log = await runAll(
          jail,
          known.map(({ command }) => command),
        );
        for (const [index, { command, listed }] of known.entries()) {
          const started = log.get(index) ?? [];
          if (started.length > 0) ran++;
          const missing = started.filter((name) => !listed.has(name));
          if (missing.length > 0) problems.push(`${JSON.stringify(command)} ran ${[...new Set(missing)].join(", ")}`);
        }
      }
    };
    await Promise.all(Array.from({ length: drivers }, (_, index) => work(join(top, String(index)))));
    assert.deepEqual(problems, [], `seed ${seed}`);
    // Understanding nothing would pass, too.
    assert.ok(understood > count * 0.25 && ran > count * 0.15, `${understood} understood, ${ran} of them ran something`);
  });
});

/** The programs a command would run; undefined when the parser says that it cannot tell. */
function listedIn(command: string): Set<string> | undefined {
  const parsed = parseCommand(command);
  const programs = flatten(parsed.programs);
  if (!parsed.understood || programs.some((program) => program.hidden !== undefined)) return undefined;
  return new Set(programs.map((program) => program.name));
}

function flatten(programs: readonly Program[]): Program[] {
  return programs.flatMap((program) => [program, ...flatten(program.inside)]);
}

function prepareJail(jail: string): void {
  mkdirSync(join(jail, "bin"), { recursive: true });
  mkdirSync(join(jail, "work"));
  const stub = join(jail, "stub");
  writeStub(stub, join(jail, "log"));
  for (const name of stubs) {
    copyFileSync(stub, join(jail, "bin", name));
    writeFileSync(join(jail, "work", name), ""); // so that patterns find something
  }
  for (const name of runners) {
    const found = (process.env["PATH"] ?? "").split(":").map((folder) => join(folder, name));
    const real = found.flatMap((path) => {
      try {
        return [realpathSync(path)];
      } catch {
        return [];
      }
    })[0];
    if (real) symlinkSync(real, join(jail, "bin", name));
  }
}

/** Writes its job and name into the log: compiled where there is a compiler, because a script takes four times as long to start. */
function writeStub(path: string, log: string): void {
  const source = `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  char line[256];
  const char *job = getenv("JOB"), *slash = strrchr(words[0], '/');
  int size = snprintf(line, sizeof line, "%s %s\\n", job ? job : "?", slash ? slash + 1 : words[0]);
  int file = open(${JSON.stringify(log)}, O_WRONLY | O_APPEND);
  return file < 0 || write(file, line, size) != size;
}
`;
  writeFileSync(`${path}.c`, source);
  const { status } = spawnSync("cc", ["-O1", "-static", "-o", path, `${path}.c`], { stdio: "ignore" });
  if (status !== 0) writeFileSync(path, `#!/bin/sh\necho "$JOB \${0##*/}" >> ${log}\n`);
  chmodSync(path, 0o755);
}

/** Each command in a shell of its own; which programs were started, by index. */
async function runAll(jail: string, commands: readonly string[]): Promise<Map<number, string[]>> {
  const list = join(jail, "commands");
  writeFileSync(list, commands.map((command) => `${command}\0`).join(""));
  writeFileSync(join(jail, "log"), "");
  // Each command has a process group of its own; whatever is left in one at the end is ended.
  const driver = `set -m
outrider_job=0 outrider_groups=
while IFS= read -r -d '' outrider_text <&3; do
  ( set --; ulimit -t 1; export JOB=$outrider_job; eval "$outrider_text" ) 3<&- < /dev/null > /dev/null 2>&1 &
  outrider_groups="$outrider_groups $!"
  wait $!
  echo
  outrider_job=$((outrider_job + 1))
done 3< "$1"
read -r -t 0.2 < <(read -r -t 1)
for group in $outrider_groups; do kill -KILL -- -$group; done 2> /dev/null
:`;
  const child = spawn("bash", ["-c", driver, "driver", list], {
    cwd: join(jail, "work"),
    env: { PATH: join(jail, "bin"), HOME: join(jail, "work"), FUNCNEST: "20" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = await keepsMoving(child, silenceMs);
  const last = Number(/(\d+) \S+\n$/.exec(readFileSync(join(jail, "log"), "utf8"))?.[1] ?? 0);
  const told = commands.slice(last, last + 5).map((command) => JSON.stringify(command));
  assert.ok(ended, `these did not end, or one shortly after: ${told.join(" ")}`);
  const log = new Map<number, string[]>();
  for (const line of readFileSync(join(jail, "log"), "utf8").split("\n")) {
    const [job, name] = line.split(" ");
    if (name) log.set(Number(job), [...(log.get(Number(job)) ?? []), name]);
  }
  return log;
}
