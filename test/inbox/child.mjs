// One life of a session in a process of its own: node child.mjs LIFE, where LIFE is JSON (see lives.ts). Writes what was acknowledged to a log
// at once, and ends itself with SIGKILL where the life says so.
import { appendFileSync } from "node:fs";

const life = JSON.parse(process.argv[2] ?? "{}");
const { InteractiveSession, createFileStore, createScriptedProvider } = await import(life.library);
const log = (line) => appendFileSync(life.log, `${JSON.stringify(line)}\n`);
const die = () => process.kill(process.pid, "SIGKILL");
const random = randomFrom(life.seed ?? 1);
const textOf = (message) => message?.content?.map(({ text }) => text ?? "").join("") ?? "";

let appends = 0;
const dies = (events, when) =>
  life.die?.when === when &&
  (life.die.append === appends ||
    events.some((event) => event.type === life.die.type && JSON.stringify(event).includes(life.die.text ?? "")));

const inner = createFileStore(life.folder);
const store = {
  ...inner,
  async open(id) {
    const journal = await inner.open(id);
    return {
      events: journal.events,
      warnings: journal.warnings,
      location: journal.location,
      close: () => journal.close(),
      async append(events) {
        appends++;
        if (dies(events, "before")) die();
        await journal.append(events);
        if (dies(events, "after")) die();
      },
    };
  },
};

/** Calls a tool where the prompt says so, so that others can join its turn; says who was asked. */
const reply = ({ messages }) => {
  const last = messages.at(-1);
  const text = textOf(last);
  if (last?.role === "user") log({ asked: text });
  if (life.die?.asked === text) die();
  if (text.includes("hang")) return { text: "…", hang: true };
  if (last?.role === "user" && text.includes("tool"))
    return { calls: [{ name: "Glob", input: { pattern: "*.none" } }], delayMs: 15 };
  return { text: `answer to ${text}`, delayMs: life.delayMs ?? 5 };
};

const session = new InteractiveSession({
  cwd: life.folder,
  provider: createScriptedProvider(Array.from({ length: 2_000 }, () => reply)),
  bare: true,
  sessionStore: store,
  ...(life.isNew ? { sessionId: life.session } : { resumeSessionId: life.session }),
});
await session.open();
log({ waiting: session.inbox.map(({ input }) => textOf(input)) });

const steps = {
  submit: ({ do: _, text, ...options }) => void session.submit(text, options).catch(() => {}),
  async accept({ do: _, text, ...options }) {
    const accepted = await session.accept(text, options);
    log({ accepted: text, id: accepted.id, isRepeated: accepted.isRepeated });
    void accepted.outcome.then(
      (outcome) => log({ ended: text, type: outcome.type, code: outcome.error?.code }),
      () => {},
    );
  },
  async cancel({ text }) {
    const waiting = session.inbox.find(({ input }) => textOf(input) === text);
    if (waiting && (await session.cancelPrompt(waiting.id))) log({ cancelled: text });
  },
  interrupt: () => session.interrupt(),
  goOn: () => session.goOn(),
  pause: ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms)),
  async idle() {
    while (session.isExecuting() || session.inbox.some(({ isHeld }) => !isHeld))
      await new Promise((resolve) => setTimeout(resolve, 2));
  },
  die,
};
for (const step of life.steps) await steps[step.do](step);
for (let count = 0; count < (life.randomSteps ?? 0); count++) await randomStep(count);
await session.shutdown({ waiting: "keep" });
log({ shutdown: true });

async function randomStep(count) {
  const texts = session.inbox.map(({ input }) => textOf(input));
  const text = `${life.name}.${count}${random(3) === 0 ? " tool" : ""}.`;
  const mode = ["queue", "steer", "now"][random(3)];
  switch (random(8)) {
    case 0:
      return await steps.pause({ ms: random(20) });
    case 1:
      return texts.length > 0 ? await steps.cancel({ text: texts[random(texts.length)] }) : undefined;
    case 2:
      return steps.interrupt();
    case 3:
      return await steps.goOn();
    case 4:
      return await steps.accept({ text: `key ${random(5)}`, mode, key: `k${random(5)}` });
    default:
      return await steps.accept({ text, mode });
  }
}

function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
