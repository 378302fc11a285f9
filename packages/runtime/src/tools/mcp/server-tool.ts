import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { isTooDeep, maxJsonDepth } from "../../util/too-deep.ts";
import { shortChecksum } from "../../util/short-checksum.ts";
import { maxOutputLimit, toServerName } from "./server-config.ts";
import type { ToolAnnotations } from "./server-state.ts";
import { defined } from "../../util/defined.ts";

/** A tool as its server describes it. */
export type ServerTool = {
  readonly name: string;
  readonly description?: string;
  /** What any input fits where the server gave none. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** What of its description is not used, and why. */
  readonly problem?: string;
  /** The server says that it only looks. */
  readonly readOnly: boolean;
  readonly annotations: ToolAnnotations;
  /** It can only be called as a task, which is begun and looked after. */
  readonly isTask: boolean;
  /** Characters of a result that its server wants to have shown. */
  readonly outputLimit?: number;
  /** Never one of those that are loaded on demand. */
  readonly isAlwaysShown: boolean;
};

/** One tool of a list; undefined for what has no name. What else is wrong with it costs that part alone. */
export function parseServerTool(value: unknown): ServerTool | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, title, description, inputSchema, outputSchema, annotations, execution, _meta: meta } = value;
  if (typeof name !== "string" || name === "") return undefined;
  const isInputUsed = isJsonObject(inputSchema) && !isTooDeep(inputSchema);
  const problem =
    isJsonObject(inputSchema) && !isInputUsed
      ? `the schema of its input is nested more than ${maxJsonDepth} levels deep: it is offered as one that takes any input`
      : undefined;
  const words = [description, title].find((text) => typeof text === "string");
  return {
    name,
    ...(typeof words === "string" && { description: words }),
    inputSchema: isInputUsed ? inputSchema : { type: "object" },
    ...(isJsonObject(outputSchema) && !isTooDeep(outputSchema) && { outputSchema }),
    ...defined({ problem }),
    readOnly: isJsonObject(annotations) && annotations["readOnlyHint"] === true,
    annotations: toAnnotations(isJsonObject(annotations) ? annotations : {}),
    isTask: isJsonObject(execution) && execution["taskSupport"] === "required",
    ...limitOf(isJsonObject(meta) ? meta["anthropic/maxResultSizeChars"] : undefined),
    isAlwaysShown: isJsonObject(meta) && meta["anthropic/alwaysLoad"] === true,
  };
}

function toAnnotations(hints: JsonObject): ToolAnnotations {
  return {
    ...(hints["readOnlyHint"] === true && { readOnly: true }),
    ...(hints["destructiveHint"] === true && { destructive: true }),
    ...(hints["openWorldHint"] === true && { openWorld: true }),
  };
}

function limitOf(size: JsonValue | undefined): Pick<ServerTool, "outputLimit"> {
  return typeof size === "number" && size > 0 ? { outputLimit: Math.min(size, maxOutputLimit) } : {};
}

/** Providers take no longer names. */
const maxNameLength = 64;

/**
 * The names that models and rules know a server's tools by, in the order of the tools, whose own names differ, and all different. Characters that providers do
 * not take become `_`; where two tools would get the same name so, the one that was called so keeps it and the others get a checksum.
 */
export function toToolNames(server: string, tools: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const plain of tools.map(toPlain)) counts.set(plain, (counts.get(plain) ?? 0) + 1);
  return tools.map((tool) => {
    const plain = toPlain(tool);
    const isShared = (counts.get(plain) ?? 0) > 1;
    return toName(server, tool, { marked: plain !== tool && (isShared || !isLegible(tool)) });
  });
}

/** The same for one tool alone, when the others are not known. */
export function toToolName(server: string, tool: string): string {
  return toName(server, tool, { marked: !isLegible(tool) });
}

function isLegible(tool: string): boolean {
  return /[A-Za-z0-9]/.test(tool);
}

function toPlain(tool: string): string {
  return tool.replace(/[^A-Za-z0-9_-]/g, "_");
}

function toName(server: string, tool: string, { marked }: { marked: boolean }): string {
  const name = `mcp__${toServerName(server)}__${toPlain(tool)}`;
  if (!marked && name.length <= maxNameLength) return name;
  const mark = `_${shortChecksum(marked ? tool : name)}`;
  return name.slice(0, maxNameLength - mark.length) + mark;
}
