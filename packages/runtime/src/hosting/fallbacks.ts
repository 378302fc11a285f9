import { type Fallback, withFallback } from "../model/fallback.ts";

/** One model, or several with commas between them, each for when the one before cannot be asked. */
export async function loadFallbacks(names: string, load: (name: string) => Promise<Fallback>): Promise<Fallback> {
  const [name = "", ...others] = names.split(",").map((one) => one.trim());
  const fallback = await load(name);
  if (others.length === 0 || !fallback.provider) return fallback;
  return { ...fallback, provider: withFallback(fallback.provider, await loadFallbacks(others.join(","), load)) };
}
