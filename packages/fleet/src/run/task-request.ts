import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { type HostedRequest, type ImagePart, isPermissionMode, RuntimeError, type UserMessage } from "@outrider/runtime";
import { inspectImage, toSendableContent } from "@outrider/runtime/admin";
import type { BatchTask, BatchUnit } from "../tasks/task.ts";

/** The session that a task asks for. What it does not say comes from the settings, as for the command itself. */
export function toRequest({ task, model }: BatchUnit, cwd: string): Omit<HostedRequest, "session" | "opening"> {
  const { permissionMode } = task;
  return {
    cwd,
    provider: task.provider,
    model,
    options: {
      builtinTools: task.tools,
      allowedTools: task.allowedTools,
      disallowedTools: task.disallowedTools,
      permissionMode: permissionMode !== undefined && isPermissionMode(permissionMode) ? permissionMode : undefined,
      systemPrompt: task.systemPrompt,
      appendSystemPrompt: task.appendSystemPrompt,
      outputSchema: task.schema,
      maxTurns: task.maxTurns,
      maxBudgetUsd: task.maxBudgetUsd,
      slashCommands: false,
    },
  };
}

/** The prompt with what is shown beside it. Files that are neither pictures nor PDF documents are named, for tools to look at. */
export async function toPrompt({ prompt, attachments = [] }: BatchTask): Promise<string | UserMessage> {
  if (attachments.length === 0) return prompt;
  const parts: ImagePart[] = [];
  const named: string[] = [];
  for (const path of attachments) {
    const part = await toPart(path);
    if (part) parts.push(part);
    else named.push(path);
  }
  const text =
    named.length === 0 ? prompt : `${prompt}\n\nFiles that belong to this:\n${named.map((path) => `- ${path}`).join("\n")}`;
  return parts.length === 0 ? text : { role: "user", content: [...parts, { type: "text", text }] };
}

async function toPart(path: string): Promise<ImagePart | undefined> {
  const bytes = read(path);
  const data = bytes.toString("base64");
  if (extname(path).toLowerCase() === ".pdf" && bytes.subarray(0, 1024).includes("%PDF-"))
    return { type: "image", mediaType: "application/pdf", data };
  const facts = inspectImage(bytes);
  if (facts.type !== "image") return undefined;
  const [made] = await toSendableContent([{ type: "image", mediaType: facts.mediaType, data }]);
  if (made?.type === "image") return made;
  throw new RuntimeError("no-input", `The attachment ${path} cannot be shown to a model`);
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new RuntimeError(
      "no-input",
      `The attachment ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
