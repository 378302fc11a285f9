import picomatch, { type PicomatchOptions } from "picomatch";
import { inTime, TookTooLong } from "../util/in-time.ts";
import { ToolFailure } from "./tool.ts";

/** Patterns with no more stars, and no groups, are quick on whatever a path can be. */
const quickStars = 3;
const maxMilliseconds = 1_000;

/** Which paths does a pattern mean? It becomes a regular expression: one that takes too long on all the paths together is a `ToolFailure`. */
export function compileGlob(patterns: string | readonly string[], options: PicomatchOptions = {}): (path: string) => boolean {
  const matches = picomatch([patterns].flat(), { dot: true, ...options });
  const isQuick = (pattern: string): boolean => !pattern.includes("(") && pattern.split(/\*+/).length - 1 <= quickStars;
  if ([patterns].flat().every(isQuick)) return (path) => matches(path);
  let left = maxMilliseconds;
  return (path) => {
    const began = performance.now();
    try {
      return inTime(() => matches(path), Math.max(1, Math.ceil(left)));
    } catch (error) {
      if (!(error instanceof TookTooLong)) throw error;
      throw new ToolFailure(`The pattern ${patterns} takes too long on the paths here; use fewer wildcards.`, { cause: error });
    } finally {
      left -= performance.now() - began;
    }
  };
}
