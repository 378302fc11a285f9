import type { Forgiveness } from "../meant-input.ts";
import type { ForgivingTool } from "./table.ts";

/** Loaded with the first input that does not fit: most runs have none. */
export function forgives(what: ForgivingTool): () => Promise<Forgiveness> {
  return async () => (await import("./table.ts")).forgivenInputs[what];
}
