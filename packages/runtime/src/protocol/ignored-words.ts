/** What an untrusted project wanted and did not get, in one sentence for a person. */
export function ignoredWords({ items, hint }: { readonly items: readonly string[]; readonly hint: string }): string {
  const shown = items.slice(0, 5).join(", ");
  const more = items.length > 5 ? ` and ${items.length - 5} more` : "";
  return `ignored from a project that is not trusted: ${shown}${more}. ${hint}`;
}
