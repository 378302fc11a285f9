/** Is it one moment, such as 2026-11-16T18:30:00Z? Without a zone it is local time. Such a schedule comes once, whatever else is said of it. */
export function isMoment(expression: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?$/.test(expression.trim());
}
