/** How many files a search passed by because of rules; their names stay unsaid. */
export function leftOutNote(count: number): string[] {
  if (count === 0) return [];
  return [count === 1 ? "[1 file was left out: rules protect it.]" : `[${count} files were left out: rules protect them.]`];
}
