// What the model says in each scene, and the sizes that the scenes are about.

export const toolCalls = 50;
/** How long the model takes for an answer in the scene of boxes, in which real ones take longer. */
export const thoughtMs = 25;
export const textDeltas = 20_000;
export const historyFiles = 80;
export const historyFileBytes = 23_500;
/** Turns at full history that are measured, after one that is not. */
export const measuredTurns = 24;
const readsAtOnce = 8;
export const buildingTurns = historyFiles / readsAtOnce;

/** Calls of one turn in the session that is resumed. */
export const callsAtOnce = 8;

/** The name of a script: so many turns with calls, then an answer. */
export function callsOfTurns(turns) {
  return `calls of ${turns} turns`;
}

/** The same with one call in each turn. */
export function singleCalls(turns, tool = "Read") {
  return `${turns} turns of one ${tool}`;
}

/** The same with a model that counts tokens, so that older turns give way to summaries. */
export function compactedTurns(turns) {
  return `${turns} compacted turns`;
}

/** What the model says under this name. */
export function scriptOf(name) {
  const [, count, tool] = /^(\d+) turns of one (Read|Bash)$/.exec(name) ?? [];
  if (tool) return (_request, index) => (index < Number(count) ? { calls: [once[tool](index)] } : { text: "Done." });
  const compacted = Number(/^(\d+) compacted turns$/.exec(name)?.[1]);
  if (compacted) return compactedScript(compacted);
  const turns = Number(/^calls of (\d+) turns$/.exec(name)?.[1]);
  if (!turns) return scripts[name]();
  const calls = (turn) => Array.from({ length: callsAtOnce }, (_, place) => readAgain(turn * callsAtOnce + place));
  return (_request, index) => (index < turns ? { calls: calls(index) } : { text: "Done." });
}

const once = { Read: (time) => readAgain(time), Bash: (time) => doNothing(time) };
const tokensPerMessage = 400;

/** Who asks without tools asks for a summary. */
function compactedScript(turns) {
  let made = 0;
  return ({ body }) => {
    const usage = { inputTokens: body.messages.length * tokensPerMessage, outputTokens: 20 };
    if (!body.tools?.length) return { text: `What was done so far. ${"A fact. ".repeat(50)}`, usage };
    return made < turns ? { calls: [readAgain(made++)], usage } : { text: "Done.", usage };
  };
}

const scripts = {
  answer: () => () => ({ text: "All is well." }),

  toolCalls: () => (_request, index) => (index < toolCalls ? { calls: [doNothing(index)] } : { text: "Done." }),

  thoughtfulCalls: () => (_request, index) => ({
    ...(index < toolCalls ? { calls: [doNothing(index)] } : { text: "Done." }),
    delayMs: thoughtMs,
  }),

  deltas() {
    const reply = { text: "word ".repeat(textDeltas) };
    return () => reply;
  },

  history: () => (_request, index) => {
    if (index < buildingTurns) {
      return {
        calls: Array.from({ length: readsAtOnce }, (_, position) => read(`history-${index * readsAtOnce + position}.txt`)),
      };
    }
    return index <= buildingTurns + measuredTurns ? { calls: [readAgain(index)] } : { text: "Done." };
  },
};

function read(file_path) {
  return { name: "Read", input: { file_path } };
}

// Each in other words: a call that is made in the same words again and again ends the turn.

function readAgain(time) {
  return { name: "Read", input: { file_path: "small.txt", limit: 1000 + time } };
}

function doNothing(time) {
  return { name: "Bash", input: { command: `true ${time}` } };
}
