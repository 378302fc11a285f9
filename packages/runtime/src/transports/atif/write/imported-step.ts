import type { JsonObject } from "../../../protocol/content.ts";
import { isRecord } from "../../../util/is-record.ts";
import type { Step } from "../atif.ts";
import type { MediaFiles } from "../media-files.ts";

/** An imported step with its pictures named by the paths of this document instead of being in it. */
export function toNamedStep(step: JsonObject, media: MediaFiles): Omit<Step, "step_id"> {
  const results: unknown = isRecord(step["observation"]) ? step["observation"]["results"] : undefined;
  const named = {
    ...step,
    message: toNamed(step["message"], media),
    ...(Array.isArray(results) && {
      observation: {
        results: results
          .filter(isRecord)
          .map((result) => ("content" in result ? { ...result, content: toNamed(result["content"], media) } : result)),
      },
    }),
  };
  return named as unknown as Omit<Step, "step_id">; // it was a step of a valid trajectory
}

function toNamed(content: unknown, media: MediaFiles): unknown {
  if (!Array.isArray(content)) return content;
  return content.filter(isRecord).map((part) => {
    const { source } = part;
    if (!isRecord(source) || typeof source["data"] !== "string") return part;
    const [named] = media.toContent([{ type: "image", mediaType: String(source["media_type"]), data: source["data"] }]);
    return named;
  });
}
