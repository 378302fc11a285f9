import type { Effort, ModelRequest } from "../model.ts";
import type { ModelRecord } from "./record.ts";

/** Hears in a sentence what a model is not asked for although somebody wanted it. */
export type Tell = (note: string) => void;

type Wanted = Pick<ModelRequest, "model" | "effort" | "thinkingTokens" | "temperature" | "maxOutputTokens" | "stopSequences">;

/** Words for how hard to think, the least first. */
const order: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Nobody wants it to think at all. */
export function isOff({ thinkingTokens }: Pick<ModelRequest, "thinkingTokens">): boolean {
  return thinkingTokens === 0;
}

/** How hard it should think, in the word that this model has for it: the next one up, else its highest. Undefined: nobody asked. */
export function fitEffort(request: Wanted, record: ModelRecord, tell: Tell): string | undefined {
  const wanted = isOff(request) ? "none" : (request.effort ?? effortFor(request.thinkingTokens));
  if (wanted === undefined || record.efforts.length === 0) return undefined;
  const word = nextEffort(wanted, record.efforts);
  if (word !== wanted)
    tell(
      isOff(request)
        ? `${record.id} cannot be kept from thinking: it is asked to think as little as it can (effort ${word})`
        : `${record.id} knows no effort ${wanted}: it is asked with ${word}`,
    );
  return word;
}

function nextEffort(wanted: string, known: readonly string[]): string {
  const least = order.indexOf(wanted);
  return known.find((word) => order.indexOf(word) >= least) ?? known.at(-1) ?? wanted;
}

/** The word that comes closest to a budget of tokens. */
export function effortFor(thinkingTokens: number | undefined): Effort | undefined {
  if (!thinkingTokens) return undefined;
  if (thinkingTokens <= 4_096) return "low";
  return thinkingTokens <= 16_384 ? "medium" : "high";
}

/** The budget of tokens that comes closest to a word. */
export const budgets: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 60_000,
};

/** The temperature that was asked for, where the model takes one. `thinks`: it will think. */
export function fitTemperature(
  request: Wanted,
  { record, thinks, tell }: { record: ModelRecord; thinks: boolean; tell: Tell },
): number | undefined {
  const { temperature } = request;
  if (temperature === undefined) return undefined;
  if (record.temperature === "any" || (record.temperature === "idle" && !thinks)) return withinRange(temperature, record, tell);
  tell(`${record.id} takes no temperature${record.temperature === "idle" ? " while it thinks" : ""}: it is asked without`);
  return undefined;
}

function withinRange(temperature: number, { id, temperatures: [least, most] = [0, 2] }: ModelRecord, tell: Tell): number {
  const fitting = Math.min(Math.max(temperature, least), most);
  if (fitting !== temperature) tell(`${id} takes temperatures from ${least} to ${most}: it is asked with ${fitting}`);
  return fitting;
}

/** As many tokens as were asked for, and no more than the model can write. */
export function fitOutput(tokens: number | undefined, record: ModelRecord | undefined, tell: Tell): number | undefined {
  if (tokens === undefined || !record || record.guessed || tokens <= record.maxOutputTokens) return tokens;
  tell(`${record.id} writes at most ${record.maxOutputTokens} tokens: that is asked for instead of ${tokens}`);
  return record.maxOutputTokens;
}

export function fitStops({ stopSequences = [] }: Wanted, record: ModelRecord | undefined, tell: Tell): string[] {
  if (stopSequences.length === 0 || record?.stopSequences !== false) return [...stopSequences];
  tell(`${record.id} takes no stop sequences: it is asked without`);
  return [];
}
