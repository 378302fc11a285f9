import type { ChildProcess } from "node:child_process";

/**
 * Whether a program ends that writes to its stdout whenever it has done one thing more. False, and killed, when it was silent for
 * `silenceMs`: that bounds each thing, however many there are and however busy the machine is.
 */
export function keepsMoving(child: ChildProcess, silenceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = (): void => {
      child.kill("SIGKILL");
      resolve(false);
    };
    let timer = setTimeout(giveUp, silenceMs);
    child.stdout?.on("data", () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, silenceMs);
    });
    child.once("exit", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
