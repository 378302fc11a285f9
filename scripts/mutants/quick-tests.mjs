import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../bundle-options.mjs";
import { compileWithMutants } from "./meet-tests.mjs";

/**
 * Quick tests share one process, which judges one mutant after the other: starting Node and loading the sources takes longer than most of
 * them. A mutant that is met while the sources load gets a process of its own, started with the mutant awake.
 */
export async function openQuickTests({ entries, mutants, place, output }) {
  const file = await compile({ entries, mutants, output });
  const { loaded, tests } = await meet({ file, place });
  const awakeAtLoad = new Set(loaded);
  const metBy = new Map();
  for (const { index, met } of tests)
    for (const id of met) {
      if (!metBy.has(id)) metBy.set(id, []);
      metBy.get(id).push(index);
    }
  const msOf = new Map(tests.map(({ index, ms }) => [index, ms]));
  const fileOf = new Map(tests.map((test) => [test.index, test.file]));
  const killers = new Map();
  const needsFresh = new Set(); // files whose work is done once in a process, and kept
  let shared;

  /** What killed others of the same file, and the file's own tests, know what it is for; of the others, the quickest first. */
  const inOrder = (mutant, wanted) => {
    const meeting = new Set(wanted);
    const proven = (killers.get(mutant.file) ?? []).filter((index) => meeting.has(index));
    const own = `packages/runtime/src/${mutant.file.replace(/\.ts$/, ".test.ts")}`;
    const others = wanted.sort((a, b) => msOf.get(a) - msOf.get(b));
    return [...new Set([...proven, ...others.filter((index) => fileOf.get(index) === own), ...others])];
  };
  const remember = ({ file: source }, killer) => {
    if (!msOf.has(killer)) return;
    const counts = killers.get(source) ?? [];
    killers.set(source, [killer, ...counts.filter((index) => index !== killer)].slice(0, 100));
  };
  const ask = async (child, mutant, wanted) => {
    const timeoutMs = wanted.reduce((sum, index) => sum + msOf.get(index), 0) * 4 + 5_000;
    const answer = await child?.ask({ type: "judge", mutant, tests: wanted }, timeoutMs);
    if (answer === undefined) child?.end();
    return answer ?? { killer: "its end" };
  };
  /** In the shared process. What an earlier mutant left there may fail a test, too: then it ends, and the mutant is judged alone. */
  const askShared = async (mutant, wanted) => {
    if (!shared?.isAlive()) shared = await start(file, "");
    const { killer, isSpoilt } = await ask(shared, mutant, wanted);
    if (isSpoilt) shared.end();
    return isSpoilt ? undefined : killer;
  };
  /** In a process of its own: nothing was computed before the mutant woke up. */
  const askAlone = async (mutant, wanted) => {
    const child = await start(file, mutant);
    const { killer } = await ask(child, mutant, wanted);
    child?.end();
    return killer;
  };
  return {
    async judge(mutant) {
      const isLoaded = awakeAtLoad.has(mutant.id);
      const wanted = inOrder(mutant, isLoaded ? [...msOf.keys()] : (metBy.get(mutant.id) ?? []));
      if (wanted.length === 0) return "unmet";
      const isShared = !isLoaded && !needsFresh.has(mutant.file);
      const early = isShared ? await askShared(mutant.id, wanted) : undefined;
      const killer = early ?? (await askAlone(mutant.id, wanted));
      if (isShared && early === undefined && killer !== undefined) needsFresh.add(mutant.file);
      remember(mutant, killer);
      return killer === undefined ? "survived" : "killed";
    },
    close: () => shared?.end(),
  };
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
    const child = await start(file, "");
    const met = await child?.ask({ type: "meet" }, 600_000);
    child?.end();
    if (!met) throw new Error("The quick tests do not run");
    for (const { name, failure } of met.tests) if (failure !== undefined) console.log(`not used: "${name}" fails: ${failure}`);
    mkdirSync(join(place, "met"), { recursive: true });
    writeFileSync(answer, JSON.stringify({ ...met, tests: met.tests.filter(({ failure }) => failure === undefined) }));
  }
  return JSON.parse(readFileSync(answer, "utf8"));
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
  let tell = () => {};
  child.on("message", (message) => tell(message));
  child.on("exit", () => {
    isAlive = false;
    tell(undefined);
  });
  const listen = (timeoutMs) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), timeoutMs);
      tell = (message) => {
        clearTimeout(timer);
        resolve(message);
      };
      if (!isAlive) tell(undefined);
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
  const ready = await listen(30_000);
  if (ready === undefined) {
    end();
    return undefined;
  }
  return {
    end,
    isAlive: () => isAlive,
    ask(question, timeoutMs) {
      const answer = listen(timeoutMs);
      if (isAlive) child.send(question);
      return answer;
    },
  };
}
