import { firstLine, headline, isFields, shorten } from "./describe-call.ts";
import { editsInInput } from "./edits.ts";
import { picture } from "./from-events.ts";
import { known, StepList, toRunModel } from "./run-builder.ts";
import type { Picture, RunModel, RunOutcome, TokenCounts } from "./run-model.ts";

type Fields = Readonly<Record<string, unknown>>;
type Block = Fields & { readonly type: string };

/**
 * What `--output-format stream-json` prints and what Claude Code stores of a session: messages of its API, one line for each block. The one
 * ends with a result, the other has the time of each line.
 */
export function fromFrames(frames: readonly Fields[]): RunModel {
  const reader = new FrameReader(frames.map(timeOf).find((time) => time !== undefined));
  for (const frame of frames) reader.take(frame);
  return reader.finish();
}

class FrameReader {
  readonly #began: number | undefined;
  #list: StepList;
  readonly #lists = new Map<string, StepList>();
  readonly #inputs = new Map<string, unknown>();
  #open: { id: string; list: StepList; blocks: Block[]; frame: Fields; at: number | undefined } | undefined;
  #facts: { id?: string; cwd?: string; mode?: string; agent?: string; branch?: string } = {};
  #result: Fields | undefined;
  #lastAt = 0;
  #hasTimes = false;

  constructor(began: number | undefined) {
    this.#began = began;
    this.#list = new StepList();
  }

  take(frame: Fields): void {
    const time = timeOf(frame);
    const at = time === undefined || this.#began === undefined ? undefined : Math.max(0, time - this.#began);
    if (at !== undefined) {
      this.#hasTimes = true;
      this.#lastAt = Math.max(this.#lastAt, at);
    }
    this.#learn(frame);
    const list = this.#listOf(frame);
    if (frame["type"] === "assistant") return this.#answer(frame, list, at);
    if (frame["type"] === "user") {
      this.#close();
      return this.#input(frame, list, at);
    }
    if (frame["type"] === "result") this.#result = frame;
    if (frame["type"] === "system" && frame["subtype"] === "compact_boundary") {
      this.#close();
      list.rule({ kind: "compaction", title: "Compaction" }, known({ at }));
    }
    if (frame["type"] === "system" && frame["subtype"] === "api_retry")
      list.retry(numberOf(frame["retry_delay_ms"]) ?? 0, wordOf(frame["error"]) ?? "the request failed");
  }

  finish(): RunModel {
    this.#close();
    for (const list of [this.#list, ...this.#lists.values()]) list.endOpenCalls();
    const result = this.#result;
    const { id = "session", agent = "Claude Code", ...facts } = this.#facts;
    return toRunModel(this.#list, {
      ...{ id, agent, ...facts, source: result || !this.#hasTimes ? "stream-json" : "transcript" },
      ...(this.#began !== undefined && { startedAt: new Date(this.#began).toISOString() }),
      ...known({ durationMs: (result && numberOf(result["duration_ms"])) ?? (this.#hasTimes ? this.#lastAt : undefined) }),
      ...known({ costUsd: result && numberOf(result["total_cost_usd"]) }),
      outcome: result ? toOutcome(result) : undefined,
      permissions: (Array.isArray(result?.["permission_denials"]) ? result["permission_denials"].filter(isFields) : []).map(
        (denial) => {
          const place = this.#list.find(wordOf(denial["tool_use_id"]) ?? "");
          const facts = { step: place?.step ?? 0, tool: wordOf(denial["tool_name"]) ?? "", preview: place?.call.preview ?? "" };
          return { ...facts, allowed: false, by: "the run", reason: "denied" };
        },
      ),
      notes: result ? [] : ["The lines tell no result: how it ended is not known."],
    });
  }

  #learn(frame: Fields): void {
    const id = wordOf(frame["session_id"]) ?? wordOf(frame["sessionId"]);
    if (id && !this.#facts.id) this.#facts = { ...this.#facts, id };
    const cwd = wordOf(frame["cwd"]);
    if (cwd && !this.#facts.cwd) {
      this.#facts = { ...this.#facts, cwd };
      if (this.#list.steps.length === 0) this.#list = new StepList(cwd);
    }
    const mode = wordOf(frame["permissionMode"]);
    const branch = wordOf(frame["gitBranch"]);
    const version = wordOf(frame["claude_code_version"]) ?? wordOf(frame["version"]);
    this.#facts = { ...this.#facts, ...known({ mode, branch }), ...(version && { agent: `Claude Code ${version}` }) };
  }

  /** The steps of the conversation, or of the subagent whose frame it is. */
  #listOf(frame: Fields): StepList {
    const parent = wordOf(frame["parent_tool_use_id"]);
    if (!parent) return this.#list;
    const known = this.#lists.get(parent);
    if (known) return known;
    this.#close();
    const input = this.#inputs.get(parent);
    const name = isFields(input) ? wordOf(input["subagent_type"]) : undefined;
    const list = this.#list.openSubagent(parent, { name: name ?? "subagent" });
    this.#lists.set(parent, list);
    return list;
  }

  #answer(frame: Fields, list: StepList, at: number | undefined): void {
    const message = isFields(frame["message"]) ? frame["message"] : {};
    const id = wordOf(message["id"]) ?? "";
    const blocks = blocksIn(message["content"]);
    if (this.#open && this.#open.id === id && id !== "" && this.#open.list === list) {
      this.#open.blocks.push(...blocks);
      this.#open.frame = frame;
      return;
    }
    this.#close();
    this.#open = { id, list, blocks: [...blocks], frame, at };
  }

  /** All lines of an answer are there: they are one step. */
  #close(): void {
    if (!this.#open) return;
    const { list, blocks, frame, at } = this.#open;
    this.#open = undefined;
    const message = isFields(frame["message"]) ? frame["message"] : {};
    const textIn = (type: string, key: string): string =>
      blocks
        .filter((block) => block.type === type)
        .map((block) => wordOf(block[key]) ?? "")
        .join("\n");
    const calls = blocks
      .filter((block) => block.type === "tool_use")
      .map((block) => ({ id: wordOf(block["id"]) ?? "", name: wordOf(block["name"]) ?? "tool", input: block["input"] }));
    for (const { id, input } of calls) this.#inputs.set(id, input);
    list.answer({
      ...{ text: textIn("text", "text"), reasoning: textIn("thinking", "thinking"), calls, at },
      ...{ model: wordOf(message["model"]), usage: isFields(message["usage"]) ? tokensOf(message["usage"]) : undefined },
    });
    for (const call of calls) list.startCall(call.id, at);
  }

  #input(frame: Fields, list: StepList, at: number | undefined): void {
    const message = isFields(frame["message"]) ? frame["message"] : {};
    const content = message["content"];
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : blocksIn(content);
    for (const block of blocks) if (block.type === "tool_result") this.#ended(block, list, at);
    const text = blocks
      .filter((block) => block.type === "text")
      .map((block) => wordOf((block as Fields)["text"]) ?? "")
      .join("\n");
    const images = picturesIn(blocks);
    if (text === "" && images.length === 0) return;
    const isOwn = frame["isMeta"] === true || frame["isSynthetic"] === true;
    list.prompt({
      text,
      at,
      images,
      ...(isOwn && { who: "Note" }),
      ...(frame["isCompactSummary"] === true && { who: "Summary of what came before" }),
    });
  }

  #ended(block: Fields, list: StepList, at: number | undefined): void {
    const id = wordOf(block["tool_use_id"]) ?? "";
    const content = block["content"];
    const output =
      typeof content === "string"
        ? content
        : blocksIn(content)
            .map((part) => wordOf(part["text"]) ?? "")
            .join("\n");
    const began = list.find(id)?.call.at;
    const isError = block["is_error"] === true;
    const exitCode = isError ? Number(/^Exit code (\d+)/.exec(output)?.[1] ?? Number.NaN) : Number.NaN;
    list.endCall(id, {
      ...{ status: isError ? (/permission|denied|rejected by/i.test(firstLine(output)) ? "denied" : "error") : "ok", output, at },
      ...{ images: picturesIn(blocksIn(content)), tookMs: at !== undefined && began !== undefined ? at - began : undefined },
      ...{ exitCode: Number.isNaN(exitCode) ? undefined : exitCode, edits: editsInInput(this.#inputs.get(id), this.#facts.cwd) },
    });
  }
}

function toOutcome(result: Fields): RunOutcome {
  const said = headline(wordOf(result["result"]) ?? "");
  if (result["subtype"] === "success" && result["is_error"] !== true) return { state: "completed", what: said };
  const errors = Array.isArray(result["errors"]) ? result["errors"].map(String).join("; ") : said;
  if (result["subtype"] === "error_max_turns") return { state: "stopped", what: "the limit of turns was reached" };
  if (result["subtype"] === "error_max_budget_usd") return { state: "stopped", what: "the budget was used up" };
  return { state: "failed", what: shorten(firstLine(errors), 160) || "it failed" };
}

function tokensOf(usage: Fields): TokenCounts {
  const count = (key: string): number => numberOf(usage[key]) ?? 0;
  return {
    input: count("input_tokens"),
    cached: count("cache_read_input_tokens"),
    written: count("cache_creation_input_tokens"),
    output: count("output_tokens"),
  };
}

function picturesIn(blocks: readonly Fields[]): Picture[] {
  return blocks.flatMap((block) => {
    const source = isFields(block["source"]) ? block["source"] : undefined;
    if ((block["type"] !== "image" && block["type"] !== "document") || !source) return [];
    return [picture(wordOf(source["media_type"]) ?? "", wordOf(source["data"]) ?? "", wordOf(source["url"]))];
  });
}

function blocksIn(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content)
    ? content.filter((block): block is Block => isFields(block) && typeof block["type"] === "string")
    : [];
}

function timeOf(frame: Fields): number | undefined {
  const time = typeof frame["timestamp"] === "string" ? Date.parse(frame["timestamp"]) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function wordOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A count, a time or a price: what is less than nothing or more than anybody can have is none. */
function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value < 1e15 ? value : undefined;
}
