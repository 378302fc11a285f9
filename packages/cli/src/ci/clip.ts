/** At most so many characters of a text; what is left out is counted. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 1] ?? "") ? limit - 1 : limit; // never half a character
  return `${text.slice(0, end)}\n… (${text.length - end} more characters)`;
}
