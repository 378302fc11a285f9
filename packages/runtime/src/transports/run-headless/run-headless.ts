import { RuntimeError } from "../../protocol/errors.ts";
import {
  abortSignal,
  action,
  amount,
  anyText,
  checkOptions,
  checkValue,
  count,
  either,
  fields,
  flag,
  having,
  type Kind,
  needed,
  place,
  shape,
  text,
} from "../../protocol/kinds.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { loadCallPrice } from "../atif/write/call-price.ts";
import { AgentRun } from "./agent-run.ts";
import type { AgentRunConfig, HeadlessConfig, RunPrompt, SessionRunConfig } from "./headless-config.ts";
import { RunOutput, type Stop } from "./run-output.ts";
import { SessionRun } from "./session-run.ts";

const defaultTodoReminders = 20;

/** Answers one prompt after the other. */
export interface PromptRun {
  /** What was said last. */
  readonly said: string;
  begin(): void;
  /** `undefined` asks for an answer to what the history ends with. Answers why the run is over, if it is. */
  answer(prompt: RunPrompt | undefined): Promise<Stop | undefined>;
  /** The run was aborted. */
  readonly isAborted: boolean;
  interrupt(): Promise<Stop>;
  close(): void;
}

/**
 * Gives an agent its prompt, and reminders until nothing is left to do, and says what happens line by line. A session runs on the engine like
 * everywhere else; another agent is called until it makes no more tool calls.
 * Resolves with how it went: a failing provider is an `error` line and a `failed` outcome. Rejects only when the caller's own `emitEvent`,
 * `onTurnComplete`, `onTodoReminder` or `onInterrupt` throws. In any case the trajectory holds the steps so far.
 */
export async function runHeadless(config: HeadlessConfig): Promise<Outcome> {
  checkOptions("runHeadless", config, kinds);
  if (!isOfSession(config)) checkValue("messageHistory", config.messageHistory, history); // a session has its own
  const output = new RunOutput(config);
  const run: PromptRun = isOfSession(config)
    ? new SessionRun(refuseForeign(config), { output, priceOf: await loadCallPrice() })
    : new AgentRun(config, output);
  try {
    run.begin();
    const stop = (await run.answer(config.initialUserMessage)) ?? (await remind(config, run, output));
    if (stop) return stop;
    return output.failure ? output.fail(output.failure, { text: run.said }) : { type: "completed", text: run.said };
  } finally {
    run.close();
  }
}

const history = having(["addUserMessage"], "a MessageHistory");
const kinds: Readonly<Record<keyof SessionRunConfig | keyof AgentRunConfig, Kind>> = {
  agent: needed(either("a session, or an object with a stream method", having(["submit"], ""), having(["stream"], ""))),
  sessionId: needed(text),
  modelId: needed(text),
  agentName: text,
  initialUserMessage: shape({ content: needed(text), eventContent: anyText, originalContent: anyText }, "an object with content"),
  maxIterations: count,
  maxTodoReminders: place,
  maxRequests: count,
  streamTimeoutMs: amount,
  messageHistory: history,
  atifOutputPath: text,
  abortSignal,
  disableCompaction: flag,
  circuitBreaker: fields,
  compactionCallbacks: fields,
  emitEvent: action,
  onInterrupt: action,
  onTurnComplete: action,
  onTodoReminder: action,
  measureUsage: action,
  onBeforeTurn: action,
  onStreamStart: action,
  shouldContinue: action,
};

function isOfSession(config: HeadlessConfig): config is SessionRunConfig {
  return "submit" in config.agent;
}

const foreignOptions: readonly Exclude<keyof AgentRunConfig, keyof SessionRunConfig>[] = [
  "maxRequests",
  "measureUsage",
  "circuitBreaker",
  "compactionCallbacks",
  "disableCompaction",
  "onBeforeTurn",
  "onStreamStart",
  "shouldContinue",
  "streamTimeoutMs",
];

/** For programs without types: an option that could not work is not passed over. */
function refuseForeign(config: SessionRunConfig): SessionRunConfig {
  const given = foreignOptions.filter((name) => Reflect.get(config, name) !== undefined);
  if (given.length === 0) return config;
  throw new RuntimeError("usage", `runHeadless takes no ${given.join(", ")} where the agent is a session`, {
    hint: "Say it in the options of the session",
  });
}

async function remind(
  { onTodoReminder, maxTodoReminders = defaultTodoReminders }: HeadlessConfig,
  run: PromptRun,
  output: RunOutput,
): Promise<Stop | undefined> {
  for (let count = 0; onTodoReminder; count++) {
    if (run.isAborted) return await run.interrupt();
    const { hasReminder, message } = await onTodoReminder();
    if (!hasReminder || !message) return undefined;
    if (count >= maxTodoReminders) {
      const reason = `Work is left after ${maxTodoReminders} reminders`;
      output.error(reason, "MAX_TODO_REMINDERS");
      return { type: "stopped", limit: "max-turns", text: run.said, reason };
    }
    const stop = await run.answer({ content: message });
    if (stop) return stop;
  }
  return undefined;
}
