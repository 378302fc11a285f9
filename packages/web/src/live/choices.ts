export type ModelChoice = { readonly id: string; readonly provider: string };

export const efforts: readonly string[] = ["minimal", "low", "medium", "high", "xhigh", "max"];
/** `bypassPermissions` is no choice for a page: whoever wants it starts the server with it. */
export const modes: readonly string[] = ["plan", "default", "dontAsk", "acceptEdits", "sandboxed"];
