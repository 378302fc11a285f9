const maxError = 1_000;

/** Why a server could not be reached, for its state. `trouble`: what its program said last. */
export function failureOf(error: unknown, trouble?: string): { status: "failed" | "needs-auth"; error: string } {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const status = httpStatusOf(error);
  const reason = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    withoutPage(message),
    ...(cause instanceof Error && cause.message !== "" ? [cause.message] : []),
  ].join(": ");
  const isRefused = status === 401 || Object(error).name === "UnauthorizedError" || error instanceof NeedsLogin;
  return {
    status: isRefused ? "needs-auth" : "failed",
    error: clip(trouble === undefined ? reason : `${reason} (${trouble})`),
  };
}

/** Nobody has logged in to a server that wants it, or with too little. */
export class NeedsLogin extends Error {
  override readonly name = "NeedsLogin";
  readonly scope: string | undefined;

  constructor(message: string, { scope, cause }: { scope?: string | undefined; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.scope = scope;
  }
}

/** The package's errors of HTTP have a status. */
export function httpStatusOf(error: unknown): number | undefined {
  const { status } = Object(error) as { status?: unknown };
  return typeof status === "number" ? status : undefined;
}

/** The server answered, and refused by the rules of the protocol. */
export function isProtocolRefusal(error: unknown): boolean {
  return typeof Object(error).code === "number";
}

/** Of a page for people only its title says something. */
function withoutPage(message: string): string {
  const start = message.search(/<(?:!doctype|html|head|body)\b/i);
  if (start === -1) return message;
  const title = /<title[^>]*>([^<]{1,200})/i.exec(message)?.[1]?.trim();
  return `${message.slice(0, start)}it answered with a web page${title ? ` (“${title}”)` : ""}: this is no address of an MCP server`;
}

/** A server may answer with a whole book. */
function clip(text: string): string {
  return text.length > maxError ? `${text.slice(0, maxError)}…` : text;
}
