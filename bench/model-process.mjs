import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Starts the process of model.mjs, which ends with this one or when stopped. */
export function startModel() {
  const child = fork(join(import.meta.dirname, "model.mjs"), { execArgv: [] });
  const gone = once(child, "exit").then(([code]) => Promise.reject(new Error(`The model's process ended with ${code}`)));
  gone.catch(() => {}); // told to whoever waits for an answer; an end that nobody waits for is the one we asked for
  const order = async (message) => {
    const answer = once(child, "message");
    child.send(message);
    const [content] = await Promise.race([answer, gone]);
    return content;
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
