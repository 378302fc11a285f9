import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { decide } from "../packages/runtime/src/permissions/decide.ts";
import { gitRows } from "../packages/runtime/src/permissions/git-rows.ts";
import { optionsOf, type Row } from "../packages/runtime/src/permissions/option-grammar.ts";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import { lookingRowOf, rowOf } from "../packages/runtime/src/permissions/program-table.ts";
import { listFolder } from "./support/command-ground.ts";
import { parseRule } from "../packages/runtime/src/permissions/rules.ts";

/** OUTRIDER_EFFECT_COMMANDS=20000 npm test -- permissions-effects tries more. A failure names its seed. */
const count = Number(process.env["OUTRIDER_EFFECT_COMMANDS"] ?? 200);
const seed = Number(process.env["OUTRIDER_PROPERTY_SEED"] ?? 20_261_116);
const batch = 100;

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-effects-")));
after(() => rmSync(top, { recursive: true, force: true }));

const hasBubblewrap = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;
const isInstalled = (name: string): boolean => spawnSync("bash", ["-c", `type -P ${name}`]).status === 0;

/** Whatever is allowed is run, in a box that keeps mistakes in a folder of the test. */
describe("what is allowed", { skip: process.platform !== "linux" || !hasBubblewrap }, () => {
  it("without a rule shows no file that a deny rule protects, nor one outside", { timeout: 1_800_000 }, async () => {
    const random = createRandom(seed);
    const names = lookers.filter(isInstalled);
    await tryAll({
      next: () => lookingCommand(random, names),
      policy: { deny: ["Read(./.env)", "Read(./secrets/**)"], allow: () => [] },
      secrets: ["CANARY-ENV", "CANARY-KEY", "CANARY-OUTSIDE", "CANARY-HOME"],
      least: 0.1,
    });
  });

  it("by a general rule runs no other program, changes no protected place and reads nothing outside", {
    timeout: 1_800_000,
  }, async () => {
    const random = createRandom(seed + 1);
    const names = workers.filter(isInstalled);
    await tryAll({
      next: () => workingCommand(random, names),
      policy: { deny: [], allow: (command) => [`Bash(${command.split(" ")[0]}:*)`] },
      secrets: ["CANARY-OUTSIDE", "CANARY-HOME"],
      least: 0.1,
    });
  });
});

type Trial = {
  readonly next: () => string;
  readonly policy: { readonly deny: string[]; readonly allow: (command: string) => string[] };
  readonly secrets: readonly string[];
  /** Allowing nothing would pass, too. */
  readonly least: number;
};

async function tryAll({ next, policy, secrets, least }: Trial): Promise<void> {
  const template = prepareTemplate();
  const problems: string[] = [];
  let allowed = 0;
  for (let done = 0; done < count; done += batch) {
    const jobs: { command: string; place: string }[] = [];
    for (let index = 0; index < batch; index++) {
      const place = join(top, "jobs", String(index));
      const command = next();
      const { effect } = await decide(
        policyOf(template, { deny: policy.deny, allow: policy.allow(command) }),
        [{ tool: "Bash", kind: "run", resource: command }],
        follow,
      );
      if (effect === "allow") jobs.push({ command, place });
    }
    allowed += jobs.length;
    runAll(template, jobs);
    for (const { command, place } of jobs) {
      const problem = problemOf({ command, place, template, secrets });
      if (problem !== undefined) problems.push(`${JSON.stringify(command)} ${problem}`);
    }
    rmSync(join(top, "jobs"), { recursive: true, force: true });
  }
  rmSync(template, { recursive: true, force: true });
  assert.ok(problems.length === 0, `seed ${seed}\n${problems.join("\n")}`);
  assert.ok(allowed > count * least, `${allowed} of ${count} were allowed`);
}

function policyOf(place: string, { allow, deny }: { allow: string[]; deny: string[] }): Policy {
  const toRules = (texts: string[]) => texts.map((text) => parseRule(text));
  const base = { root: join(place, "proj"), home: join(place, "home") };
  return {
    mode: "default",
    allow: toRules(allow),
    ask: [],
    deny: toRules(deny),
    base,
    readable: [],
    inertGit: async () => "/inert",
    listFolder: async (folder) => listFolder(folder),
  };
}

/** A project with files that are nobody's business, a home and a folder beside it; `evil` leaves a mark when it is run. */
function prepareTemplate(): string {
  const place = join(top, "template");
  const proj = join(place, "proj");
  for (const folder of ["proj/src/deep", "proj/secrets", "proj/docs", "proj/out", "proj/.claude", "home/.ssh", "outside"])
    mkdirSync(join(place, folder), { recursive: true });
  const files: Record<string, string> = {
    "proj/.env": "CANARY-ENV\n",
    "proj/secrets/key.txt": "CANARY-KEY\n",
    "proj/a.txt": "one\ntwo\n",
    "proj/b.txt": "two\nthree\n",
    "proj/src/a.ts": "const a = 1;\n",
    "proj/src/deep/b.ts": "const b = 2;\n",
    "proj/Makefile": "all:\n\t@echo made\ntest:\n\t@echo tested\n",
    "proj/list.txt": "../outside/secret.txt\n.env\n",
    "proj/evil.mk": "all test:\n\t./evil\n",
    "proj/evil.awk": 'BEGIN { system("./evil") }\n',
    "proj/.claude/settings.json": "{}\n",
    "home/.ssh/id_rsa": "CANARY-HOME\n",
    "home/.bashrc": "# theirs\n",
    "outside/secret.txt": "CANARY-OUTSIDE\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  writeFileSync(join(proj, "evil"), '#!/bin/sh\ntouch "$MARK"\ncat\n');
  chmodSync(join(proj, "evil"), 0o755);
  symlinkSync("../.env", join(proj, "docs/link.txt"));
  symlinkSync("secrets", join(proj, "open"));
  symlinkSync("../outside", join(proj, "outlink"));
  const git = (...words: string[]): void => {
    const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    const { status, stderr } = spawnSync("git", [...identity, ...words], {
      cwd: proj,
      env: { PATH: process.env["PATH"], HOME: place },
    });
    assert.equal(status, 0, String(stderr));
  };
  git("init", "-q", "--template=");
  git("add", "-A");
  git("commit", "-qm", "all");
  git("rm", "-q", "--cached", ".env");
  git("commit", "-qm", "without");
  git("gc", "-q");
  mkdirSync(join(proj, ".git/hooks"));
  return place;
}

function runAll(template: string, jobs: readonly { command: string; place: string }[]): void {
  if (jobs.length === 0) return;
  mkdirSync(join(top, "jobs"));
  const driver = join(top, "driver.sh");
  const lines = jobs.map(({ command, place }, index) => {
    const script = join(top, "jobs", `${index}.sh`);
    writeFileSync(script, command);
    const run = `HOME=${place}/home MARK=${place}/mark timeout -k 1 1 bash ${script} < /dev/null 2>&1 | head -c 200000 > ${place}.out`;
    return `cp -a ${template} ${place} && cd ${place}/proj && ${run}`;
  });
  writeFileSync(driver, ["ulimit -f 20000", "ulimit -t 20", ...lines, "true"].join("\n"));
  const box = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", top, top, "--unshare-all"];
  spawnSync("bwrap", [...box, "bash", driver], { env: { PATH: process.env["PATH"] }, timeout: 600_000 });
}

const protectedPlaces = ["proj/.git/hooks", "proj/.git/config", "proj/.claude", "home", "outside"];

function problemOf(job: { command: string; place: string; template: string; secrets: readonly string[] }): string | undefined {
  const { command, place, template, secrets } = job;
  if (existsSync(join(place, "mark"))) return "ran ./evil";
  const output = contentOf(`${place}.out`);
  const shown = secrets.find((secret) => output.includes(secret));
  if (shown !== undefined) return `showed ${shown}`;
  const kept = protectedPlaces.filter((path) => !(path.endsWith("config") && command.startsWith("git ")));
  const changed = kept.find((path) => picture(join(place, path)) !== picture(join(template, path)));
  if (changed !== undefined) return `changed ${changed}`;
  const beside = readdirSync(place).filter((name) => !["proj", "home", "outside"].includes(name));
  if (beside.length > 0) return `wrote ${beside.join(", ")} beside the project`;
  const copied = secrets.find(
    (secret) => secret !== "CANARY-ENV" && secret !== "CANARY-KEY" && holds(join(place, "proj"), secret),
  );
  return copied === undefined ? undefined : `copied ${copied}`;
}

/** Names and contents, links as links. */
function picture(path: string): string {
  try {
    return readdirSync(path, { withFileTypes: true })
      .map(
        (entry) => `${entry.name}:${entry.isDirectory() ? picture(join(path, entry.name)) : contentOf(join(path, entry.name))}`,
      )
      .join("\n");
  } catch {
    return contentOf(path);
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function holds(folder: string, secret: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) =>
    entry.isDirectory()
      ? holds(join(folder, entry.name), secret)
      : entry.isFile() && contentOf(join(folder, entry.name)).includes(secret),
  );
}

const lookers =
  "cat head tail tac nl rev wc grep egrep rg diff cmp comm join paste sort uniq cut fold fmt od xxd strings sed awk jq find ls stat file du git base64 column expand shuf zcat gzip zgrep xzcat bzip2 tar unzip zipinfo iconv bash man ss netstat printenv env basename dirname tr".split(
    " ",
  );
const workers =
  "sort uniq shuf cp mv ln install tee touch mkdir rm dd split csplit sed awk jq tar zip unzip find rg grep diff make git xxd file tree truncate chmod cat head wc patch gzip xargs".split(
    " ",
  );

const places = [
  ..."a.txt b.txt src src/a.ts . * *.txt docs docs/* s*/* .e* .[e]nv .env ./.env ../proj/.env secrets secrets/key.txt open/key.txt ope?/key.txt open docs/link.txt".split(
    " ",
  ),
  ..."outlink outlink/secret.txt outlink/* ../outside/secret.txt ../outside .git/config .git/hooks .git/hooks/pre-commit .claude/settings.json list.txt".split(
    " ",
  ),
  ..."out out/ out/x new.txt ./evil evil.mk evil.awk ~/.ssh/id_rsa ~/.bashrc $HOME/.ssh/id_rsa $PWD/.env ~+/.env $x {a.txt,.env} **/*.txt".split(
    " ",
  ),
  ...[
    "'.e*'",
    '"$PWD"/.env',
    "$(ls -A)",
    "<(cat a.txt)",
    "/proc/self/cwd/.env",
    "'$(./evil)'",
    "- ",
    ".git",
    "../new.txt",
    "link",
  ],
];
const texts = [
  "1",
  "x",
  "two",
  "''",
  "s/a/b/",
  "p",
  "'1e ./evil'",
  "'w .git/hooks/x'",
  "recurse",
  "read",
  "exec=./evil",
  "./evil",
  "'!./evil'",
  "HEAD",
  "HEAD~1",
  "HEAD:.env",
  "main",
  "--",
  "all",
  "test",
  "SHELL=./evil",
];
const gitForms =
  "status|log|log -p|log --stat|show|show HEAD~1|diff|diff HEAD~1|diff --stat HEAD~1|grep CANARY|grep -n two|ls-files|cat-file -p HEAD:.env|blame|stash list|branch|rev-parse HEAD|log --oneline|show --name-only|diff --cached|diff --no-index".split(
    "|",
  );

type Random = (below: number) => number;

function lookingCommand(random: Random, names: readonly string[]): string {
  const part = (): string => {
    const name = pick(random, names);
    if (name === "git")
      return ["git", pick(random, gitForms), ...some(random, 2, () => pick(random, ["--", ...places]))].join(" ");
    if (name === "find")
      return [
        "find",
        pick(random, places),
        pick(random, ["", "-name '*.txt'", "-exec cat {} +", "-type f", "-exec grep -l C {} \\;"]),
      ].join(" ");
    const pattern = /^(?:e?grep|rg)$/.test(name)
      ? [pick(random, ["CANARY", "''", "two"])]
      : name === "sed"
        ? ["-n p"]
        : name === "awk"
          ? ["'{print}'"]
          : name === "jq"
            ? ["-R ."]
            : [];
    const options = some(random, 2, () => option(random, lookingRowOf(name) ?? rowOf(name) ?? { operands: "text" }));
    return [name, ...options, ...pattern, ...some(random, 3, () => pick(random, places))].join(" ");
  };
  const around = random(14);
  if (around === 0) return `${part()} | ${part()}`;
  if (around === 1) return `shopt -s ${pick(random, ["dotglob", "globstar", "nocaseglob", "extglob"])}; ${part()}`;
  if (around === 2) return `for f in ${pick(random, places)}; do cat ${pick(random, ["$f", '"$f"'])}; done`;
  if (around === 3) return `cd ${pick(random, places)} && ${part()}`;
  if (around === 4) return `${part()} < ${pick(random, places)}`;
  if (around === 5) return `${pick(random, ["find . -type f", "ls -A", "git ls-files"])} | xargs ${part()}`;
  if (around === 6) return `x=${pick(random, places)}; ${part()}`;
  return part();
}

function workingCommand(random: Random, names: readonly string[]): string {
  const name = pick(random, names);
  const value = (): string => pick(random, random(3) === 0 ? texts : places);
  if (name === "git") {
    const subcommand = pick(random, Object.keys(gitRows));
    const row = gitRows[subcommand] ?? { operands: "text" };
    return ["git", subcommand, ...some(random, 3, () => (random(2) === 0 ? option(random, row) : value()))].join(" ");
  }
  const row = rowOf(name) ?? { operands: "text" };
  return [name, ...some(random, 4, () => (random(2) === 0 ? option(random, row) : value()))].join(" ");
}

/** One of the row, alone or in a cluster, its value attached or behind. Sometimes one that is not in the row. */
function option(random: Random, row: Row): string {
  const known = optionsOf(row);
  if (known.length === 0 || random(20) === 0)
    return pick(random, ["-Q", "-x", "-e", "-o", "--output=out/x", "--exec=./evil", "--help"]);
  const { name, arity } = pick(random, known);
  const value = pick(random, [...places, ...texts]);
  const letters = known.filter((one) => one.arity === "flag" && /^-\w$/.test(one.name));
  const cluster =
    /^-\w$/.test(name) && letters.length > 0 && random(3) === 0
      ? `-${pick(random, letters).name.slice(1)}${name.slice(1)}`
      : name;
  if (/[=+@]$/.test(name)) return `${name === "*=" ? "X=" : name}${value}`;
  if (arity === "flag") return cluster === "-#" ? "-3" : cluster;
  if (name.startsWith("--"))
    return arity === "optional" && random(2) === 0 ? name : random(2) === 0 ? `${name}=${value}` : `${name} ${value}`;
  return random(2) === 0 || arity === "optional" ? `${cluster}${value}` : `${cluster} ${value}`;
}

function some(random: Random, most: number, make: () => string): string[] {
  return Array.from({ length: random(most + 1) }, make);
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[random(items.length)];
  assert.ok(item !== undefined);
  return item;
}

function createRandom(start: number): Random {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

async function follow(path: string): Promise<string> {
  return realpath(path).catch(async () =>
    path === dirname(path) ? path : join(await follow(dirname(path)), path.slice(dirname(path).length)),
  );
}
