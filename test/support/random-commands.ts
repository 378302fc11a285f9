/** Numbers that look random and are the same for the same seed. */
export type Random = { below(limit: number): number; pick<T>(items: readonly T[]): T };

export function createRandom(start: number): Random {
  let state = start >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * limit);
  };
  return { below, pick: (items) => items[below(items.length)] as (typeof items)[number] };
}
