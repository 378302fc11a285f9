/** Below 0 when `a` is the older one: 1.9 before 1.10, 2.0.0-rc.1 before 2.0.0. Texts that are no versions are older than any. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return Number(Boolean(left)) - Number(Boolean(right));
  for (let at = 0; at < 3; at++) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  for (let at = 0; at < Math.max(left.pre.length, right.pre.length); at++) {
    const difference = compareWords(left.pre[at], right.pre[at]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function parse(text: string): { readonly numbers: readonly number[]; readonly pre: readonly string[] } | undefined {
  const match = /^v?(\d{1,15})(?:\.(\d{1,15}))?(?:\.(\d{1,15}))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(text);
  if (!match) return undefined;
  const [, major, minor = "0", patch = "0", pre] = match;
  return { numbers: [major, minor, patch].map(Number), pre: pre?.split(".") ?? [] };
}

/** Numbers before words, and what is not there before both. */
function compareWords(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  const [isNumber, isOther] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOther) return Number(a) - Number(b);
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
