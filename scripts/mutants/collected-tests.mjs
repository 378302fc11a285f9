// Takes the place of `node:test` in a bundle of quick tests: collects them, and runs those it is asked to for one mutant after the other.
const { mock } = process.getBuiltinModule("node:test");
const suites = [newSuite()];
const tests = [];
const met = new Set();
let file = "";
let awake = process.env.OUTRIDER_MUTANT ?? "";
let isMeeting = true;
let isMetAwake = false;

globalThis.$mutant = (id) => {
  if (isMeeting) met.add(id);
  if (id !== awake) return false;
  isMetAwake = true;
  return true;
};

/** The tests that come now are those of this file, and so are the hooks that stand in no suite. */
export function enterFile(path) {
  file = path;
  suites.splice(0, suites.length, newSuite());
}

export function describe(_name, ...rest) {
  const [options, body] = rest.length > 1 ? rest : [{}, rest[0]];
  if (options.skip) return;
  suites.push(newSuite());
  body();
  suites.pop();
}
export const suite = describe;

export function it(name, ...rest) {
  const [options, body] = rest.length > 1 ? rest : [{}, rest[0]];
  if (!options.skip && !options.todo) tests.push({ name, file, body, suites: [...suites] });
}
export const test = it;

/** In place of `test/support/it-holds.ts`: one test per case, so that each mutant is tried on the cases that meet it, and no others. */
export function itHolds(fact, cases, check) {
  for (const [index, one] of cases.entries())
    it(`${fact}, case ${index}`, async () => {
      const wrong = await check(one);
      if (wrong !== undefined) throw new Error(wrong);
    });
}

export const before = (hook) => void suites.at(-1).before.push(hook);
export const after = (hook) => void suites.at(-1).after.push(hook);
export const beforeEach = (hook) => void suites.at(-1).beforeEach.push(hook);
export const afterEach = (hook) => void suites.at(-1).afterEach.push(hook);

/**
 * Answers the parent, and tells it which test begins. `meet` runs every test from one on with no mutant awake; `judge` runs the given ones
 * until one fails.
 */
export function answerQuestions() {
  const loaded = takeMet();
  const allSuites = new Set(tests.flatMap((one) => one.suites));
  process.on("uncaughtException", () => process.exit(1));
  const answer = {
    async meet({ from }) {
      for (let index = from; index < tests.length; index++) {
        process.send({ type: "begins", index, file: tests[index].file });
        const startedAt = performance.now();
        const failure = await run(tests[index]);
        const { name, file } = tests[index];
        process.send({ type: "met", index, name, file, ms: performance.now() - startedAt, met: takeMet(), failure });
      }
      return { loaded };
    },
    async judge({ mutant, tests: wanted }) {
      isMeeting = false;
      awake = Object.keys({ [mutant]: true })[0]; // the same text as in the sources, so that comparing is quick
      let killer;
      let isKept = false; // a test that does not meet it again uses something that was computed before it woke up
      for (const index of wanted) {
        process.send({ type: "begins", index });
        isMetAwake = false;
        const failure = await run(tests[index]);
        isKept ||= !isMetAwake;
        if (failure === undefined) continue;
        killer = index;
        break;
      }
      awake = "";
      // A test that fails with nothing awake suffers from an earlier mutant, not from this one.
      const isSpoilt = killer !== undefined && (await run(tests[killer])) !== undefined;
      return { killer, isSpoilt, isKept };
    },
  };
  process.on("message", async (question) => process.send({ type: "answer", ...(await answer[question.type](question)) }));
  process.on("disconnect", async () => {
    for (const one of allSuites) for (const hook of one.after) await hook();
    process.exit(0);
  });
  process.send({ type: "ready" });
}

/** Undefined, or why it failed. */
async function run({ name, body, suites: around }) {
  const afterwards = [];
  const signal = AbortSignal.timeout(60_000);
  const context = { name, mock, signal, after: (hook) => afterwards.push(hook), diagnostic() {}, skip() {} };
  const failures = [];
  const attempt = async (part) => {
    try {
      await part();
    } catch (error) {
      failures.push(String(error?.message ?? error));
    }
  };
  await attempt(async () => {
    for (const one of around) {
      for (const hook of one.before.splice(0)) await hook();
      for (const hook of one.beforeEach) await hook();
    }
    await body(context);
  });
  mock.reset();
  for (const hook of [...afterwards, ...around.flatMap((one) => one.afterEach)]) await attempt(hook);
  return failures[0];
}

function newSuite() {
  return { before: [], after: [], beforeEach: [], afterEach: [] };
}

function takeMet() {
  const taken = [...met];
  met.clear();
  return taken;
}
