import type { AssistantMessage, Message, ToolDefinition } from "../../protocol/content.ts";
import { wellFormed } from "../../util/well-formed.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { isPlainTool } from "./plain-request.ts";
import { PropertyNames } from "./property-names.ts";
import { toSendableImage } from "./sendable-image.ts";
import { toSendableMessage } from "./sendable-messages.ts";
import { thinImages } from "./thin-images.ts";
import { toSendableName } from "./tool-names.ts";
import { type SendableSchema, toSendableSchema } from "./tool-schema.ts";

/** A request that can be sent, and the way back for what is answered to it. */
export type MendedRequest = {
  readonly request: ModelRequest;
  /** An event in the names that the session knows; absent where all names are the same. */
  readonly restore?: (event: ModelEvent) => ModelEvent;
};

/**
 * The request as every provider takes it. A function of the request alone: a resumed session asks with the same bytes.
 * Messages and their parts keep their places, so that a part can be found again by where it stands.
 */
export function mendRequest(request: ModelRequest): MendedRequest {
  const tools = toSendableTools(request.tools);
  const messages = thinImages(request.messages.map(mendMessage));
  const renamed = tools.filter((tool) => tool.name !== tool.original || !tool.names.areAllPlain);
  const wired = renamed.some(({ names }) => !names.areAllPlain)
    ? messages.map((message) => inputsToWire(message, renamed))
    : messages;
  return {
    request: {
      ...request,
      system: wellFormed(request.system),
      messages: wired,
      tools: tools.map(({ definition }) => definition),
    },
    ...(renamed.length > 0 && { restore: restorer(renamed) }),
  };
}

const mended = new WeakMap<Message, Message>();

function mendMessage(message: Message): Message {
  const before = mended.get(message);
  if (before) return before;
  const made = toSendableMessage(message, toSendableImage);
  mended.set(message, made);
  return made;
}

type SendableTool = {
  readonly original: string;
  readonly name: string;
  readonly definition: ToolDefinition;
  readonly names: PropertyNames;
};

/** Of tools whose properties are all sent under their own names. */
const noNames = new PropertyNames();

/** Of two tools with one name, which no provider takes, the first is kept. */
function toSendableTools(tools: readonly ToolDefinition[]): SendableTool[] {
  const made = new Map<string, SendableTool>();
  for (const tool of tools) {
    const name = toSendableName(tool.name);
    if (made.has(name)) continue;
    // As it is sent while the rest of the request is plain too: an image on its way in changes nothing for the provider's cache.
    const sendable = isPlainTool(tool) ? { schema: tool.inputSchema, names: noNames } : toSendableSchema(tool.inputSchema);
    made.set(name, {
      original: tool.name,
      name,
      definition: { ...tool, ...describe(tool, name, sendable) },
      names: sendable.names,
    });
  }
  return [...made.values()];
}

function describe(tool: ToolDefinition, name: string, { schema, note }: SendableSchema): ToolDefinition {
  const words = [
    wellFormed(tool.description),
    ...(name === tool.name ? [] : [`(Elsewhere it is called ${JSON.stringify(wellFormed(tool.name))}.)`]),
    ...(note === undefined ? [] : [note]),
  ];
  return { name, description: words.join("\n"), inputSchema: schema };
}

function inputsToWire(message: Message, tools: readonly SendableTool[]): Message {
  if (message.role !== "assistant") return message;
  return withInputs(message, (name, input) => tools.find((tool) => tool.name === name)?.names.inputToWire(input) ?? input);
}

function restorer(tools: readonly SendableTool[]): (event: ModelEvent) => ModelEvent {
  const byWire = new Map(tools.map((tool) => [tool.name, tool]));
  return (event) => {
    if (event.type === "tool-input.delta") return { ...event, name: byWire.get(event.name)?.original ?? event.name };
    if (event.type !== "finished") return event;
    const inputs = withInputs(event.message, (name, input) => byWire.get(name)?.names.inputFromWire(input) ?? input);
    const content = inputs.content.map((part) =>
      part.type === "tool-call" ? { ...part, name: byWire.get(part.name)?.original ?? part.name } : part,
    );
    return { ...event, message: { ...inputs, content } };
  };
}

function withInputs(message: AssistantMessage, change: (name: string, input: unknown) => unknown): AssistantMessage {
  const content = message.content.map((part) =>
    part.type === "tool-call" ? { ...part, input: change(part.name, part.input) } : part,
  );
  return { ...message, content };
}
