import type { TrajectoryProblem } from "./field-checks.ts";
import { isRecord } from "../../../util/is-record.ts";

/** Files that the steps of a document name and that are not there. Only the document's own, as Harbor looks; sounds in strict mode too. */
export function missingMedia(
  value: unknown,
  { strict, exists }: { strict: boolean; exists: (path: string) => boolean },
): TrajectoryProblem[] {
  const steps: unknown = isRecord(value) ? value["steps"] : undefined;
  if (!Array.isArray(steps)) return [];
  const look = (content: unknown, path: string): TrajectoryProblem[] => {
    if (!Array.isArray(content)) return [];
    return content.flatMap((part: unknown, index) => {
      const file = localFile(part, strict);
      if (file === undefined || exists(file)) return [];
      return [{ path: `${path}[${index}].source.path`, rule: "missing-media", message: `there is no file ${file}` }];
    });
  };
  return steps.flatMap((step: unknown, index) => {
    if (!isRecord(step)) return [];
    const place = `trajectory.steps[${index}]`;
    return [
      ...look(step["message"], `${place}.message`),
      ...resultsOf(step).flatMap((result, at) =>
        isRecord(result) ? look(result["content"], `${place}.observation.results[${at}].content`) : [],
      ),
    ];
  });
}

function resultsOf(step: Record<string, unknown>): unknown[] {
  const { observation } = step;
  const results: unknown = isRecord(observation) ? observation["results"] : undefined;
  return Array.isArray(results) ? results : [];
}

/** The path of a picture or sound on this machine; undefined for everything else. */
function localFile(part: unknown, strict: boolean): string | undefined {
  if (!isRecord(part) || !isRecord(part["source"])) return undefined;
  if (part["type"] !== "image" && !(part["type"] === "audio" && strict)) return undefined;
  const { path } = part["source"];
  return typeof path === "string" && path !== "" && !path.includes("://") ? path : undefined;
}
