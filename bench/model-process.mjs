import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Starts the process of model.mjs. It ends with this one, or when stopped. */
export async function startModel() {
  const child = fork(join(import.meta.dirname, "model.mjs"), { execArgv: [] });
  const order = async (message) => {
    child.send(message);
    const [answer] = await Promise.race([once(child, "message"), failWhenGone(child)]);
    return answer;
  };
  return {
    /** The address of a fresh server that follows `script`. */
    play: async (script) => (await order({ type: "play", script })).url,
    /** What happened since `play`, on the clock of `now()`. */
    seen: async () => await order({ type: "seen" }),
    stop: () => child.disconnect(),
  };
}

/** Milliseconds on the one monotonic clock that all processes of a machine share. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

async function failWhenGone(child) {
  const [code] = await once(child, "exit");
  throw new Error(`The model's process ended with ${code}`);
}
