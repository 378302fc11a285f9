import { RuntimeError } from "../../protocol/errors.ts";
import { gptModels } from "../capabilities/gpt.ts";
import { findRecord } from "../capabilities/record.ts";
import { type ConnectSettings, textOption } from "./definition.ts";

type Surface = "responses" | "chat-completions";

/** OpenAI itself is asked over Responses; whatever stands behind another base URL, over what everybody speaks, unless the model calls tools over Responses only. */
export async function openaiSurface(settings: ConnectSettings): Promise<Surface> {
  const surface = textOption(settings, "apiSurface");
  if (surface === "responses" || surface === "chat-completions") return surface;
  if (surface !== undefined)
    throw new RuntimeError("config", `The option apiSurface must be "responses" or "chat-completions", not "${surface}"`);
  if (settings.baseURL === settings.definition.baseURL) return "responses";
  return findRecord(gptModels, settings.model ?? "")?.chatTools === "never" ? "responses" : "chat-completions";
}
