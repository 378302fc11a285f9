/** The name of one run of an agent or a program, as hosts of Claude Code know it: when it began, and digits of an id that nothing else has. */
export function toRunId(now: number, id: string): string {
  return `${now.toString(36).padStart(9, "0")}-${id.slice(-8)}`;
}
