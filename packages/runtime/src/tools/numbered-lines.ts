/** `cat -n` style: the number right-aligned, a tab, the text. */
export function numberedLine(number: number, text: string): string {
  return `${String(number).padStart(6)}\t${cutLine(text, 2000)}`;
}

export function cutLine(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
  return `${text.slice(0, end)}… [line cut: it has ${text.length} characters]`;
}
