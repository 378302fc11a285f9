import { action, checkOptions, type Kind, needed } from "../../protocol/kinds.ts";

export type SignalHandlersConfig = {
  /** Called when the process exits, whatever the reason; must not wait for anything. */
  onCleanup(): void;
  /** Ends the process with this code. */
  onFatalCleanup(exitCode: number): never;
};

/** An interrupt is a way to stop, and no failure. */
const exitCodes = { SIGINT: 0, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131 } as const;

const kinds: Readonly<Record<keyof SignalHandlersConfig, Kind>> = { onCleanup: needed(action), onFatalCleanup: needed(action) };

let registrations = 0;

/** Ends the process in order at signals and at failures nobody caught. Once per process, at its start; answers how to undo it. */
export function registerSignalHandlers(config: SignalHandlersConfig): () => void {
  checkOptions("registerSignalHandlers", config, kinds);
  const { onCleanup, onFatalCleanup } = config;
  if (registrations++ > 0) process.emitWarning("registerSignalHandlers was called twice: both handlers will run");
  const fail = (error: unknown): void => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    onFatalCleanup(1);
  };
  const handlers: [string, (argument: unknown) => void][] = [
    ...Object.entries(exitCodes).map(([signal, code]): [string, () => void] => [signal, () => onFatalCleanup(code)]),
    ["uncaughtException", fail],
    ["unhandledRejection", fail],
    ["exit", () => onCleanup()],
  ];
  for (const [name, handler] of handlers) process.once(name, handler);
  return () => {
    registrations--;
    for (const [name, handler] of handlers) process.off(name, handler);
  };
}
