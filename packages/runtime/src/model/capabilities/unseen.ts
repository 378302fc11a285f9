import type { ImagePart, Message } from "../../protocol/content.ts";
import { pdfType } from "../../protocol/media.ts";
import type { ModelRequest } from "../model.ts";
import type { Tell } from "./fit.ts";

/** Tells of images and documents that stand in a request as words only, because its model cannot see them. */
export function tellUnseen(
  { model, messages }: ModelRequest,
  sees: { readonly images: boolean; readonly pdf: boolean },
  tell: Tell,
): void {
  if (sees.images && sees.pdf) return;
  const shown = messages.flatMap(mediaIn);
  const isDocument = ({ mediaType }: ImagePart): boolean => mediaType === pdfType;
  if (!sees.images && shown.some((part) => !isDocument(part)))
    tell(`${model} sees no images: they are left out, and it is told so`);
  if (!(sees.images && sees.pdf) && shown.some(isDocument))
    tell(`${model} reads no PDF documents: they are left out, and it is told so`);
}

function mediaIn(message: Message): ImagePart[] {
  if (message.role === "assistant") return [];
  const parts = message.role === "user" ? message.content : message.content.flatMap(({ content }) => content);
  return parts.filter((part) => part.type === "image");
}
