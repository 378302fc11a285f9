/** Eight digits that tell two texts apart (FNV-1a). No protection against anybody who means harm. */
export function shortChecksum(text: string): string {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
