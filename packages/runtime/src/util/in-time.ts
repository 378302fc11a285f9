/** A task was stopped because it took longer than it may. */
export class TookTooLong extends Error {}

let limited: (<T>(task: () => T, milliseconds: number) => T) | undefined;

/**
 * Runs what could hold the thread for ever, because a regular expression or a schema in it was written by somebody else: a model, a server,
 * a file of a project. After that time it is stopped wherever it is, with `TookTooLong`; so it must be a task that changes nothing.
 * The time is half of what a signal may wait for its answer.
 */
export function inTime<T>(task: () => T, milliseconds = 1_000): T {
  limited ??= createLimit();
  return limited(task, milliseconds);
}

/** A virtual machine's time limit is the only way to stop a regular expression from inside the same thread. */
function createLimit(): <T>(task: () => T, milliseconds: number) => T {
  const vm = process.getBuiltinModule("node:vm");
  const script = new vm.Script("task()");
  const idle = (): void => {};
  const sandbox: { task: () => void } = { task: idle };
  const scope = vm.createContext(sandbox);
  return <T>(task: () => T, milliseconds: number): T => {
    let value: { is: T } | undefined;
    sandbox.task = () => {
      value = { is: task() };
    };
    try {
      script.runInContext(scope, { timeout: milliseconds, displayErrors: false });
    } catch (error) {
      // Born in the other context, so that it is no instance of our `Error`.
      const isTimeout =
        typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
      if (!isTimeout) throw error;
    } finally {
      sandbox.task = idle;
    }
    if (value) return value.is;
    throw new TookTooLong(`checking it took longer than ${milliseconds} ms`);
  };
}
