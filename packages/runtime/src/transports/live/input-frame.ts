import { type ImagePart, isJsonObject, type JsonObject, type TextPart, type UserMessage } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { LineTooLong } from "../../util/jsonl.ts";
import { isTooDeep, maxJsonDepth, toBoundedJson } from "../../util/too-deep.ts";
import { pdfType } from "../../protocol/media.ts";

/** One line of live input, whichever of the two dialects it was written in. */
export type InputFrame =
  | {
      readonly type: "user";
      readonly input: UserMessage;
      /** Its content was a string, and is written back as one. */
      readonly isText?: true;
      /** The sender's name for the message: echoed, and a second one with the same name is dropped. */
      readonly uuid?: string;
      /** `now` ends what runs and goes first, `next` joins what runs where it can, `later` waits for a turn of its own. */
      readonly priority: "now" | "next" | "later";
      /** False: kept for the model, but nothing is asked. */
      readonly query: boolean;
    }
  /** A message of a known form that holds what cannot be used here: it is answered, and the others are not spoilt by it. */
  | { readonly type: "unusable"; readonly error: RuntimeError; readonly uuid?: string }
  | { readonly type: "interrupt" }
  | { readonly type: "request"; readonly requestId: string; readonly request: JsonObject & { subtype: string } }
  | { readonly type: "response"; readonly requestId: string; readonly answer: ControlAnswer }
  | { readonly type: "cancel"; readonly requestId: string }
  | { readonly type: "keep-alive" }
  /** What a run writes, or a later version of it: nothing is meant for us here. */
  | { readonly type: "foreign"; readonly kind: string };

export type ControlAnswer =
  | { readonly type: "success"; readonly response: JsonObject }
  | { readonly type: "error"; readonly message: string };

/**
 * The canonical frames (`content`, `control`) are read strictly: a field nobody knows is a mistake that must not run as a blank prompt.
 * Claude's envelope (`message`, `control_request`, …) is read leniently beside them: it grows with every release.
 */
export function parseInputFrame(line: string, { takesForeign = false, isPiped = false }: Reading = {}): InputFrame {
  const frame = parseObject(line);
  switch (frame["type"]) {
    case "user":
      if (takesForeign && isTranscript(frame, isPiped)) return { type: "foreign", kind: "user (of a transcript)" };
      return "message" in frame ? parseEnvelope(frame) : parseCanonicalUser(frame);
    case "control":
      checkFields(frame, ["type", "subtype"]);
      if (frame["subtype"] !== "interrupt") throw bad(`a control frame's subtype is "interrupt", not ${show(frame["subtype"])}`);
      return { type: "interrupt" };
    case "control_request":
      return parseRequest(frame);
    case "control_response":
      return parseResponse(frame);
    case "control_cancel_request":
      return { type: "cancel", requestId: requestIdOf(frame) };
    case "keep_alive":
      return { type: "keep-alive" };
    default:
      if (takesForeign && typeof frame["type"] === "string") return { type: "foreign", kind: show(frame["type"]) };
      throw bad(`the type ${show(frame["type"])} is not known; expected user, control or one of Claude's control frames`);
  }
}

/** `isPiped`: frames that only a run writes came before, so that this is the output of one. */
type Reading = { readonly takesForeign?: boolean; readonly isPiped?: boolean };

/** A message that a run has written about itself: results of tools, notes to the model, echoes, a subagent's prompt. Hosts may also mark what they say as synthetic. */
function isTranscript({ message, isReplay, isSynthetic, parent_tool_use_id: parent }: JsonObject, isPiped: boolean): boolean {
  if (isReplay === true || (isSynthetic === true && isPiped) || typeof parent === "string") return true;
  const content = isJsonObject(message) ? message["content"] : undefined;
  return Array.isArray(content) && content.some((block) => isJsonObject(block) && block["type"] === "tool_result");
}

/** What keeps the input from being read on. */
export function toInputError(thrown: unknown): RuntimeError {
  if (!(thrown instanceof LineTooLong)) return toRuntimeError(thrown);
  return new RuntimeError("usage", `The input cannot be read: ${thrown.message}`, {
    hint: "Put what is long into a file and name the file in the prompt",
  });
}

function parseObject(line: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw bad("it is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw bad("it is not a JSON object");
  return value as JsonObject; // JSON.parse makes nothing else
}

function parseCanonicalUser(frame: JsonObject): InputFrame {
  checkFields(frame, ["type", "content"]);
  return { type: "user", input: toUserMessage(frame["content"], "strict"), priority: "next", query: true };
}

function parseEnvelope(frame: JsonObject): InputFrame {
  const message = frame["message"];
  if ("content" in frame) throw bad("it has both content and message");
  if (!isJsonObject(message)) throw bad("message must be an object");
  if (message["role"] !== "user") throw bad(`the role of message must be "user", not ${show(message["role"])}`);
  const { priority } = frame;
  const uuid = typeof frame["uuid"] === "string" && frame["uuid"] !== "" ? { uuid: frame["uuid"] } : {};
  try {
    return {
      type: "user",
      input: { ...toUserMessage(message["content"], "lenient"), ...(frame["client_composed"] === true && { isVerbatim: true }) },
      ...(typeof message["content"] === "string" && { isText: true }),
      ...uuid,
      priority: priority === "now" || priority === "later" ? priority : "next",
      query: frame["shouldQuery"] !== false,
    };
  } catch (error) {
    if (error instanceof RuntimeError) return { type: "unusable", error, ...uuid };
    throw error;
  }
}

function toUserMessage(content: unknown, reading: "strict" | "lenient"): UserMessage {
  if (typeof content === "string") return { role: "user", content: [{ type: "text", text: checkText(content) }] };
  if (!Array.isArray(content)) throw bad("content must be a string or a list of blocks");
  const parts = content.map((block) => toPart(block, reading));
  if (parts.every((part) => part.type === "text" && part.text.trim() === "")) throw bad("content is empty");
  return { role: "user", content: parts };
}

function toPart(block: unknown, reading: "strict" | "lenient"): TextPart | ImagePart {
  if (!isJsonObject(block)) throw bad("a block of content must be an object");
  if (block["type"] === "text" && typeof block["text"] === "string") {
    if (reading === "strict") checkFields(block, ["type", "text"]);
    return { type: "text", text: block["text"] };
  }
  const { source } = block;
  if (block["type"] === "image" && isJsonObject(source) && source["type"] === "base64") {
    const { media_type: mediaType, data } = source;
    if (typeof mediaType === "string" && typeof data === "string") return { type: "image", mediaType, data };
  }
  const elsewhere = isJsonObject(source) && source["type"] === "url" ? source["url"] : undefined;
  if (typeof elsewhere === "string" && (block["type"] === "image" || block["type"] === "document")) {
    if (!/^https?:\/\//i.test(elsewhere) || !URL.canParse(elsewhere)) throw bad(`${show(elsewhere)} is no http(s) address`);
    return { type: "image", mediaType: block["type"] === "image" ? "image/*" : pdfType, data: "", url: elsewhere };
  }
  if (block["type"] === "document" && isJsonObject(source) && source["type"] === "base64" && source["media_type"] === pdfType) {
    const { data } = source;
    if (typeof data === "string") return { type: "image", mediaType: pdfType, data };
  }
  if (block["type"] === "document" && isJsonObject(source) && source["type"] === "text" && typeof source["data"] === "string")
    return { type: "text", text: source["data"] };
  throw bad(
    `a block of type ${show(block["type"])} cannot be used here; expected text, an image, or a document that is PDF or text`,
  );
}

function checkText(text: string): string {
  if (text.trim() === "") throw bad("content is empty");
  return text;
}

function parseRequest(frame: JsonObject): InputFrame {
  const { request } = frame;
  if (!isJsonObject(request)) throw bad("a control_request needs a request");
  const { subtype } = request; // whoever asks for nothing that is known waits for an answer too
  if (isTooDeep(request)) throw bad(`the request is nested more than ${maxJsonDepth} levels deep`);
  return {
    type: "request",
    requestId: requestIdOf(frame),
    request: { ...request, subtype: typeof subtype === "string" ? subtype : show(subtype) },
  };
}

function parseResponse(frame: JsonObject): InputFrame {
  const { response } = frame;
  if (!isJsonObject(response)) throw bad("a control_response needs a response");
  const requestId = requestIdOf(response);
  if (response["subtype"] !== "success") {
    const { error } = response;
    return {
      type: "response",
      requestId,
      answer: { type: "error", message: typeof error === "string" ? error : "no reason given" },
    };
  }
  const inner = response["response"];
  return { type: "response", requestId, answer: { type: "success", response: isJsonObject(inner) ? inner : {} } };
}

function requestIdOf(frame: JsonObject): string {
  const { request_id: requestId } = frame;
  if (typeof requestId === "string" && requestId !== "") return requestId;
  throw bad("request_id is missing");
}

function checkFields(frame: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(frame).find((key) => !known.includes(key));
  if (unknown !== undefined) throw bad(`the field ${show(unknown)} is not known here; expected ${known.join(", ")}`);
}

function show(value: unknown): string {
  const text = value === undefined ? "nothing" : toBoundedJson(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function bad(problem: string): RuntimeError {
  return new RuntimeError("usage", `A line of input cannot be used: ${problem}`, {
    hint: 'Expected {"type":"user","content":"…"} or {"type":"control","subtype":"interrupt"}',
  });
}
