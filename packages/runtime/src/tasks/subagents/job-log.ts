import type { BackgroundTaskLogCursor, BackgroundTaskLogPage, BackgroundTaskRunnerEvent } from "../background/task-contract.ts";
import { appendPrefixedLogLines, createBackgroundTaskLogPage } from "../background/log-lines.ts";

/** Of a job that says more, the first so many lines. */
const maxLines = 10_000;

/** What an agent says and calls, in lines, while it works and afterwards. */
export class JobLog {
  readonly #jobId: string;
  readonly #lines: string[] = [];
  #rest = "";
  #isOpen = true;

  constructor(jobId: string) {
    this.#jobId = jobId;
  }

  hear(event: BackgroundTaskRunnerEvent): void {
    if (this.#lines.length >= maxLines) return;
    if (event.type === "background_task_text_delta") {
      this.#rest = appendPrefixedLogLines(this.#lines, "stdout", event.delta, this.#rest);
      return;
    }
    this.#endLine();
    if (event.type === "background_task_tool_start")
      this.#lines.push(`[system] > ${[event.toolName, event.firstArg].filter(Boolean).join(" ")}`);
    if (event.type === "background_task_permission_request") this.#lines.push(`[system] waits for permission: ${event.toolName}`);
  }

  end(words: string): void {
    if (!this.#isOpen) return;
    this.#endLine();
    this.#lines.push(`[system] ${words}`);
    this.#isOpen = false;
  }

  async page(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    return createBackgroundTaskLogPage(this.#jobId, this.#lines, { cursor, isOpen: this.#isOpen });
  }

  #endLine(): void {
    if (this.#rest !== "") appendPrefixedLogLines(this.#lines, "stdout", "\n", this.#rest);
    this.#rest = "";
  }
}
