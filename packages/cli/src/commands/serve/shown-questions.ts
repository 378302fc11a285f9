import { RuntimeError } from "@outrider/runtime";
import type { OutriderClient, RemoteSession } from "@outrider/runtime/client";
import { visible } from "../../terminal/visible.ts";

export type RemoteQuestion = RemoteSession["questions"][number];

/** Permission questions of one session, of which one is on the screen at a time: an answer counts for that one and no other. */
export class ShownQuestions {
  readonly #write: (text: string) => void;
  #open: RemoteQuestion[] = [];
  #shown: string | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  get isAsking(): boolean {
    return this.#shown !== undefined;
  }

  get size(): number {
    return this.#open.length;
  }

  /** What is open now, whatever was before. */
  replace(questions: readonly RemoteQuestion[]): void {
    this.#open = [...questions];
    this.#show();
  }

  add(question: RemoteQuestion): void {
    if (this.#open.some((one) => idOf(one) === idOf(question))) return;
    this.#open.push(question);
    if (this.isAsking) this.#write("\n(another question waits behind this one)\n");
    this.#show();
  }

  /** Somebody has answered it, here or elsewhere. */
  remove(id: string): void {
    this.#open = this.#open.filter((question) => idOf(question) !== id);
    this.#show();
  }

  /** Sends the answer to the question on the screen. Only then comes the next one. */
  async answer(text: string, client: OutriderClient, sessionId: string): Promise<void> {
    const requestId = this.#shown;
    if (requestId === undefined) throw new RuntimeError("usage", "Nothing is asked");
    if (!/^(?:y|yes|n|no)$/i.test(text)) {
      this.#write("A question is open: y or n answers it, /cancel ends the turn. Your line was not sent.\n");
      return;
    }
    await client.answerPermission(sessionId, requestId, /^y/i.test(text) ? "allow" : "deny");
    this.remove(requestId);
  }

  #show(): void {
    if (this.#open.some((question) => idOf(question) === this.#shown)) return;
    const next = this.#open.find((question) => question.type === "permission.requested");
    this.#shown = next && idOf(next);
    if (next) this.#write(toldQuestion(next));
  }
}

/** With all of the input: who says yes has seen what for. */
function toldQuestion(question: RemoteQuestion): string {
  if (question.type === "interaction.requested") return "";
  const { tool, input, reason } = question;
  return `\n? ${visible(tool)} ${visible(JSON.stringify(input))}: ${visible(reason)} [y/n]\n`;
}

function idOf(question: RemoteQuestion): string {
  return question.type === "permission.requested" ? question.requestId : question.interactionId;
}
