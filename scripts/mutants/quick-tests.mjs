import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../bundle-options.mjs";
import { compileWithMutants } from "./meet-tests.mjs";

/**
 * Quick tests share one process, which judges one mutant after the other: starting Node and loading the sources takes longer than most of
 * them. What it says about an end of itself is asked again in a process of its own, and a mutant that is met while the sources load gets one
 * from the start. `unfit` are the files that do not pass there without any mutant.
 */
export async function openQuickTests({ entries, mutants, place, output }) {
  const file = await compile({ entries, mutants, output });
  const { loaded, tests, unfit } = await meet({ file, place });
  const awakeAtLoad = new Set(loaded);
  const metBy = new Map();
  for (const { index, met } of tests)
    for (const id of met) {
      if (!metBy.has(id)) metBy.set(id, []);
      metBy.get(id).push(index);
    }
  const msOf = new Map(tests.map(({ index, ms }) => [index, ms]));
  const fileOf = new Map(tests.map((test) => [test.index, test.file]));
  const nameOf = new Map(tests.map((test) => [test.index, `${test.file}: ${test.name}`]));
  const killers = new Map();

  const ownTests = ({ file: source }) => {
    const own = `packages/runtime/src/${source.replace(/\.ts$/, ".test.ts")}`;
    return [...msOf.keys()].filter((index) => fileOf.get(index) === own);
  };
  /** What killed others of the same file, and the file's own tests, know what it is for; of the others, the quickest first. */
  const inOrder = (mutant, wanted) => {
    const meeting = new Set(wanted);
    const proven = (killers.get(mutant.file) ?? []).filter((index) => meeting.has(index));
    const own = new Set(ownTests(mutant));
    const others = wanted.sort((a, b) => msOf.get(a) - msOf.get(b));
    return [...new Set([...proven, ...others.filter((index) => own.has(index)), ...others])];
  };
  const remember = ({ file: source }, killer) => {
    if (!msOf.has(killer)) return;
    const counts = killers.get(source) ?? [];
    killers.set(source, [killer, ...counts.filter((index) => index !== killer)].slice(0, 100));
  };
  const ask = async (child, mutant, wanted, { patienceMs }) => {
    let begun;
    const answer = await child?.ask({ type: "judge", mutant, tests: wanted }, ({ index }) => {
      begun = index;
      return msOf.get(index) * 4 + patienceMs;
    });
    if (answer === undefined) child?.end();
    return answer ?? { killer: `the end of the process (${nameOf.get(begun) ?? "at its start"})`, begun };
  };
  /**
   * In a process of its own: nothing was computed before the mutant woke up. An end of it counts only if the same test ends well there without
   * the mutant.
   */
  const askAlone = async (mutant, wanted) => {
    const child = await start(file, mutant);
    const { killer, begun } = await ask(child, mutant, wanted, { patienceMs: 20_000 });
    child?.end();
    if (begun === undefined) return killer;
    const control = await start(file, "");
    const answer = await ask(control, "", [begun], { patienceMs: 20_000 });
    control?.end();
    return answer.killer === undefined ? killer : askAlone(mutant, wanted.slice(wanted.indexOf(begun) + 1));
  };
  /** One that judges one mutant at a time; several may do so beside each other. */
  const openJudge = () => {
    let shared;
    /**
     * In the shared process. Not sure where an earlier mutant may be what failed a test, or ended it, and where tests used what was computed
     * without the mutant: then it is judged alone.
     */
    const askShared = async (mutant, wanted) => {
      if (!shared?.isAlive()) shared = await start(file, "");
      const { killer, isSpoilt, isKept } = await ask(shared, mutant, wanted, { patienceMs: 5_000 });
      if (isSpoilt) shared.end();
      if (killer === undefined) return { isSure: !isKept };
      return { killer, isSure: !isSpoilt && msOf.has(killer) };
    };
    return {
      async judge(mutant) {
        const isLoaded = awakeAtLoad.has(mutant.id);
        const wanted = inOrder(mutant, isLoaded ? [...msOf.keys()] : (metBy.get(mutant.id) ?? []));
        if (wanted.length === 0) return { verdict: "unmet" };
        const early = isLoaded ? { isSure: false } : await askShared(mutant.id, wanted);
        let killer = early.isSure ? early.killer : await askAlone(mutant.id, wanted);
        // What is computed once is met by the first test that needs it, and told by any other.
        const others = killer === undefined ? ownTests(mutant).filter((index) => !wanted.includes(index)) : [];
        if (others.length > 0) killer = await askAlone(mutant.id, others);
        remember(mutant, killer);
        return killer === undefined ? { verdict: "survived" } : { verdict: "killed", by: nameOf.get(killer) ?? killer };
      },
      close: () => shared?.end(),
    };
  };
  return { openJudge, unfit: new Set(unfit) };
}

async function compile({ entries, mutants, output }) {
  const collector = join(root, "scripts/mutants/collected-tests.mjs");
  const imports = entries.map((path) => `import "enter:${path}";\nimport ${JSON.stringify(join(root, path))};`);
  const contents = `import { answerQuestions } from ${JSON.stringify(collector)};\n${imports.join("\n")}\nanswerQuestions();`;
  const replaceRunner = ({ onResolve, onLoad }) => {
    onResolve({ filter: /^enter:/ }, ({ path }) => ({ path: path.slice("enter:".length), namespace: "enter" }));
    onLoad({ filter: /.*/, namespace: "enter" }, ({ path }) => ({
      contents: `import { enterFile } from ${JSON.stringify(collector)};\nenterFile(${JSON.stringify(path)});`,
      resolveDir: root,
    }));
    onResolve({ filter: /^node:test$|\/it-holds\.ts$/ }, () => ({ path: collector }));
    onResolve({ filter: /\.test\.ts$/ }, ({ path }) => ({ path, sideEffects: true })); // packages say that their files have none
  };
  const plugins = [{ name: "collected", setup: replaceRunner }];
  await compileWithMutants({ stdin: { contents, resolveDir: root }, mutants, output, plugins });
  return join(output, "stdin.mjs");
}

/** Kept under the hash of what was compiled, and of the cases it reads. */
async function meet({ file, place }) {
  const hash = createHash("sha256").update(readFileSync(file));
  const fixtures = join(root, "test/fixtures"); // each line there may be a test
  for (const name of readdirSync(fixtures)) if (/\.jsonl?$/.test(name)) hash.update(readFileSync(join(fixtures, name)));
  const answer = join(place, "met", hash.digest("hex"));
  if (!existsSync(answer)) {
    const all = await meetAll(file);
    const unfit = new Set();
    for (const { name, file: entry, failure } of all.tests)
      if (failure !== undefined) {
        console.log(`not shared: ${entry}: "${name}" fails: ${failure.split("\n")[0]}`);
        unfit.add(entry);
      }
    mkdirSync(join(place, "met"), { recursive: true });
    const tests = all.tests.filter((test) => !unfit.has(test.file));
    writeFileSync(answer, JSON.stringify({ loaded: all.loaded, tests, unfit: [...unfit] }));
  }
  return JSON.parse(readFileSync(answer, "utf8"));
}

/** Runs every test once. One that ends the process, or never ends, has failed: another process goes on behind it. */
async function meetAll(file) {
  const tests = [];
  let begun = { index: -1 };
  for (let tries = 0; tries < 20; tries++) {
    const child = await start(file, "");
    const answer = await child?.ask({ type: "meet", from: begun.index + 1 }, (told) => {
      if (told.type === "begins") begun = told;
      else tests.push(told);
      return 60_000;
    });
    child?.end();
    if (answer) return { loaded: answer.loaded, tests };
    tests.push({ ...begun, name: "one of its tests", failure: "it ends the process, or never ends" });
  }
  throw new Error("The quick tests do not run");
}

/** Undefined when the process ends before it is ready: a mutant that no source file survives. */
async function start(file, mutant) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-mutant-"));
  const child = fork(file, [], {
    cwd: root,
    execArgv: ["--max-old-space-size=1024"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    detached: true,
    env: { ...process.env, OUTRIDER_ROOT: root, OUTRIDER_PROPERTY_COMMANDS: "300", OUTRIDER_MUTANT: mutant, TMPDIR: folder },
  });
  let isAlive = true;
  let hear = () => {};
  child.on("message", (message) => hear(message));
  child.on("exit", () => {
    isAlive = false;
    hear(undefined);
  });
  /** The first message of a type. `patience` answers others with how long to wait for the next one. */
  const listen = (type, patienceMs, patience) =>
    new Promise((resolve) => {
      let until = 0;
      const wait = (ms) => {
        until = performance.now() - waitedMs(child.pid) + ms;
      };
      const timer = setInterval(() => {
        if (performance.now() - waitedMs(child.pid) > until) hear(undefined);
      }, 500);
      hear = (message) => {
        if (message && message.type !== type) return wait(patience(message));
        clearInterval(timer);
        resolve(message);
      };
      wait(patienceMs);
      if (!isAlive) hear(undefined);
    });
  const end = () => {
    isAlive = false;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone.
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  const ready = await listen("ready", 30_000);
  if (ready === undefined) {
    end();
    return undefined;
  }
  return {
    end,
    isAlive: () => isAlive,
    ask(question, patience) {
      const answer = listen("answer", 30_000, patience);
      if (isAlive) child.send(question);
      return answer;
    },
  };
}

/** How long a process was ready and got no processor: on a busy machine that says nothing about a mutant. */
function waitedMs(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0; // it is gone, or this is no Linux
  }
}
