const firstPauseMs = 20;
const longestPauseMs = 5_000;

type Pause = (ms: number) => Promise<void>;
const pauseIdly: Pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref());

/**
 * Lists anew when there is news: at once, and once more for all that comes meanwhile, after a pause that grows as long as there is no end of
 * it. `list` does not reject. Keeps no program alive.
 */
export function listAgain(list: () => Promise<void>, signal: AbortSignal, pause: Pause = pauseIdly): () => void {
  let isBusy = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    let pauseMs = firstPauseMs;
    while (isWanted && !signal.aborted) {
      isWanted = false;
      await list();
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (isBusy) return;
    isBusy = true;
    void run();
  };
}
