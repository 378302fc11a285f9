import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelServer, type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";

/** Every this many steps the model writes a file that is too large for a line of the log. */
const largeEvery = 10;

/**
 * A model with a plan: leave the marks 1 to `steps` in a file, each once. It goes by what it is shown, as a real one would: a mark whose call
 * has a result is made, a call with unknown outcome is checked before it is repeated, one that was not run is made again.
 */
export async function startPlanner(): Promise<ModelServer> {
  return await startModelServer({ replies: ({ body }) => nextStep(readRequest(body)), keepsRequests: false });
}

export function promptFor(steps: number): string {
  return `Leave ${steps} marks.`;
}

export function finalAnswer(steps: number): string {
  return `All ${steps} marks are left.`;
}

/** How often each mark was left; what was left more than once was done twice. */
export function readMarks(project: string): Map<number, number> {
  const marks = new Map<number, number>();
  for (const line of readIfThere(join(project, "marks")).split("\n").filter(Boolean)) {
    marks.set(Number(line), (marks.get(Number(line)) ?? 0) + 1);
  }
  return marks;
}

type Step = "open" | "made" | "unknown";
type Shown = { steps: number; done: Map<number, Step> };

function nextStep({ steps, done }: Shown): ServerReply {
  const open = Array.from({ length: steps }, (_, index) => index + 1).filter((step) => done.get(step) !== "made");
  const [first, second] = open;
  if (first === undefined) return { text: finalAnswer(steps) };
  // Two at once now and then: the results of one message may be cut off between them.
  const together = second !== undefined && first % 4 === 0 ? [first, second] : [first];
  return { text: `Step ${first}.`, calls: together.map((step) => call(step, done.get(step) ?? "open")) };
}

function call(step: number, state: Step): { name: string; input: object } {
  if (step % largeEvery === 0 && state === "open")
    return { name: "Write", input: { file_path: `large-${step}.txt`, content: `step ${step} ${"x".repeat(90_000)}` } };
  if (state === "unknown") return { name: "Bash", input: { command: `grep -qx ${step} marks || echo ${step} >> marks` } };
  return { name: "Bash", input: { command: `echo ${step} >> marks` } };
}

type Block = {
  type: string;
  id?: string;
  tool_use_id?: string;
  input?: Record<string, string>;
  content?: unknown;
  text?: string;
};
type Request = { messages: { role: string; content: string | Block[] }[] };

function readRequest(body: unknown): Shown {
  const blocks = (body as Request).messages.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
  const steps = Number(/Leave (\d+) marks/.exec(JSON.stringify(blocks.filter(({ type }) => type === "text")))?.[1] ?? 0);
  const calls = new Map<string, number>();
  const done = new Map<number, Step>();
  for (const block of blocks) {
    const step = stepOf(block.input);
    if (block.type === "tool_use" && step !== undefined) calls.set(block.id ?? "", step);
    const answered = calls.get(block.tool_use_id ?? "");
    if (block.type !== "tool_result" || answered === undefined) continue;
    const state = stateAfter(JSON.stringify(block.content));
    // A check that was not run leaves unknown what was unknown before.
    if (state !== "open" || done.get(answered) !== "unknown") done.set(answered, state);
  }
  // A large file is only there to be large; its mark is left like the others.
  return { steps, done };
}

function stepOf(input: Record<string, string> | undefined): number | undefined {
  const text = /(?:echo (\d+) >> marks|^step (\d+) )/.exec(input?.["command"] ?? input?.["content"] ?? "");
  return text ? Number(text[1] ?? text[2]) : undefined;
}

function stateAfter(result: string): Step {
  if (result.includes("Outcome unknown")) return "unknown";
  return result.includes("Not run") ? "open" : "made";
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
