// What the model says in each scene, and the sizes that the scenes are about.

export const toolCalls = 50;
export const textDeltas = 20_000;
export const historyFiles = 80;
export const historyFileBytes = 23_500;
/** Turns at full history that are measured, after one that is not. */
export const measuredTurns = 24;
const readsAtOnce = 8;
export const buildingTurns = historyFiles / readsAtOnce;

export const scripts = {
  answer: () => () => ({ text: "All is well." }),

  toolCalls: () => (_request, index) =>
    index < toolCalls ? { calls: [{ name: "Bash", input: { command: "true" } }] } : { text: "Done." },

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
    return index <= buildingTurns + measuredTurns ? { calls: [read("small.txt")] } : { text: "Done." };
  },
};

function read(file_path) {
  return { name: "Read", input: { file_path } };
}
