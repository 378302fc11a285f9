// Written by scripts/generate-catalog.mjs. Do not edit.

/** The day the built-in prices were published. */
export const pricesAsOf = "2026-09-23";
