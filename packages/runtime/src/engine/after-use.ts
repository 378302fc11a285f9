import type { ToolAnswer } from "../hooks/hook.ts";
import { isJsonObject, type JsonObject, type JsonValue, type TextPart, textOf } from "../protocol/content.ts";
import { toHookInput } from "../tools/hook-input.ts";
import type { ToolOutput } from "../tools/tool.ts";
import { toToolUseResult } from "../tools/tool-use-result.ts";
import type { CallDeps } from "./deps.ts";
import { toNoteParts } from "./hook-notes.ts";
import { concernsOf } from "./judge-call.ts";
import { type LiveCall, liveInputOf } from "./live-call.ts";
import type { Attempt } from "./tool-call.ts";

export type AfterUse = { readonly notes: readonly TextPart[]; readonly content?: ToolOutput["content"] };

/** What hooks say to what was done, and put in its place. An abort cuts them off; what was done stays done. */
export async function afterUse(deps: CallDeps, call: LiveCall, ended: Attempt & { ranMs: number }): Promise<AfterUse> {
  const { status, output, ranMs: durationMs } = ended;
  const answer = (): ToolAnswer => {
    const input = toHookInput(liveInputOf(call), deps.workspace.root);
    const { content, details = {} } = output;
    const use = { name: call.name, status, details, durationMs, result: { content: [...content] } };
    const shape = toToolUseResult(use, { input, cwd: deps.workspace.root });
    return {
      ...{ tool: call.name, input, callId: call.callId, durationMs, text: textOf(content) },
      server: deps.tools.get(call.name)?.server,
      response: toResponse(shape, { content: textOf(content), is_error: status !== "ok", ...details }),
    };
  };
  try {
    if (status === "ok") return await hearAfter(deps, call, { event: "PostToolUse", answer });
    const { notes } = await hearAfter(deps, call, { event: "PostToolUseFailure", answer });
    return { notes };
  } catch (error) {
    if (deps.signal.aborted) return { notes: [] };
    throw error;
  }
}

/** The tool's shape, as programs know it, and beside it what every tool has: its words, and whether it failed. */
function toResponse(shape: unknown, every: object): JsonValue {
  const filled = isJsonObject(shape) ? { ...every, ...shape } : shape;
  return JSON.parse(JSON.stringify(filled)) as JsonValue; // made of JSON, but for fields that are not there
}

async function hearAfter(
  deps: CallDeps,
  call: LiveCall,
  { event, answer }: { event: "PostToolUse" | "PostToolUseFailure"; answer: () => ToolAnswer },
): Promise<AfterUse> {
  const { hooks, signal, emit } = deps;
  const verdict = await hooks?.ask(event, answer, { signal, emit, callId: call.callId, concerns: concernsOf(deps, call) });
  if (!verdict) return { notes: [] };
  if (verdict.stop !== undefined) deps.halt({ limit: "hook", reason: verdict.stop });
  const objection = verdict.decision?.effect === "deny" ? [verdict.decision.reason] : [];
  const notes = toNoteParts(event, [...objection, ...verdict.context]);
  return { notes, ...(verdict.updatedOutput !== undefined && { content: toContent(verdict.updatedOutput) }) };
}

/** Words, blocks as tools of MCP servers answer with them, or any other value as JSON. */
function toContent(value: JsonValue): ToolOutput["content"] {
  const words = isJsonObject(value) && typeof value["stdout"] === "string" ? joined(value) : value;
  if (typeof words === "string") return [{ type: "text", text: words }];
  const blocks = Array.isArray(value) ? value : isJsonObject(value) && Array.isArray(value["content"]) ? value["content"] : [];
  const parts = blocks.flatMap((block): ToolOutput["content"] => {
    if (!isJsonObject(block)) return [];
    const { type, text, data, mimeType } = block;
    if (type === "text" && typeof text === "string") return [{ type: "text", text }];
    const isImage = type === "image" && typeof data === "string" && typeof mimeType === "string";
    return isImage ? [{ type: "image", mediaType: mimeType, data }] : [];
  });
  return parts.length > 0 ? parts : [{ type: "text", text: JSON.stringify(value) }];
}

/** What a command would have written. */
function joined({ stdout, stderr }: JsonObject): string {
  return [stdout, stderr].filter(Boolean).join("\n");
}
