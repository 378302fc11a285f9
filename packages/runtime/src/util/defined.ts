/** The fields that hold something: spread over defaults, an absent value leaves them alone; in a record, it leaves no key behind. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value as Exclude<T[typeof name], undefined>; // what was just ruled out
  }
  return kept;
}
