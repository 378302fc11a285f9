import type { CatalogOverride } from "../../../model/catalog-override.ts";
import { toLine } from "../../../util/jsonl.ts";
import type { OutputFormat } from "../../headless/output-format.ts";
import { type CallPrice, loadCallPrice } from "../write/call-price.ts";
import { StepLines } from "./step-lines.ts";

export type AtifJsonlOptions = {
  readonly sessionId: string;
  /** Prices beside the built-in ones. */
  readonly catalogOverride?: CatalogOverride | undefined;
  /** Takes the place of all price tables. */
  readonly priceOf?: CallPrice | undefined;
  /** Milliseconds since 1970: for what is said when nothing happens any more. */
  readonly now?: (() => number) | undefined;
};

/** The lines of a run as an output format of the command. */
export async function createAtifJsonlFormat(options: AtifJsonlOptions): Promise<OutputFormat> {
  const lines = new StepLines({ ...options, priceOf: options.priceOf ?? (await loadCallPrice(options.catalogOverride)) });
  return {
    event: (event) => lines.apply(event).map(toLine).join(""),
    end: async (outcome) => lines.end(outcome).map(toLine).join(""),
  };
}
