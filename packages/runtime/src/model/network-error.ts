import { RuntimeError } from "../protocol/errors.ts";

/** One sentence for a person from whatever Node's sockets threw: which host, and what failed. */
export function toNetworkError(thrown: unknown, host: string): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const code = codeOf(thrown);
  const suffix = code ? ` (${code})` : "";
  if (isCertificateProblem(code)) {
    return new RuntimeError("provider-unavailable", `The TLS certificate of ${host} is not trusted${suffix}`, {
      cause: thrown,
      hint: "Name the PEM file of your certificate authority in SSL_CERT_FILE or NODE_EXTRA_CA_CERTS",
    });
  }
  if (isPlainTextAnswer(code, messageOf(thrown))) {
    return new RuntimeError("provider-unavailable", `${host} does not speak TLS at this port${suffix}`, {
      cause: thrown,
      hint: "Check whether the URL should start with http:// or name another port",
    });
  }
  if (code === "ERR_INVALID_CHAR" || code === "ERR_INVALID_URL" || code === "ERR_UNESCAPED_CHARACTERS") {
    return new RuntimeError("config", `The request to ${host} could not be written: ${messageOf(thrown)}`, { cause: thrown });
  }
  if (code?.startsWith("HPE_") || code === "Malformed_HTTP_Response") {
    return new RuntimeError("provider-protocol", `${host} answered with something that is not HTTP${suffix}`, {
      cause: thrown,
      retryable: true,
    });
  }
  const isRefused = code === "ECONNREFUSED";
  return new RuntimeError("provider-unavailable", `${explain(code, host, messageOf(thrown))}${suffix}`, {
    cause: thrown,
    retryable: true,
    ...(isRefused && {
      hint: "Nothing listens at this address: start the server, or correct the provider's base URL or the proxy",
    }),
  });
}

/** Nothing listens at an address of this machine: that is told at once, where a server elsewhere may be behind something that restarts. */
export function isRefusedHere({ cause }: RuntimeError): boolean {
  if (codeOf(cause) !== "ECONNREFUSED" || !(cause instanceof Error)) return false;
  const tries: readonly unknown[] = "errors" in cause && Array.isArray(cause.errors) ? cause.errors : [cause];
  return tries.every((one) => {
    const address = one instanceof Error && "address" in one ? String(one.address) : "";
    return address.startsWith("127.") || address === "::1";
  });
}

function explain(code: string | undefined, host: string, message: string): string {
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host name ${host} could not be resolved`;
    case "ECONNREFUSED":
      return `${host} refused the connection`;
    case "ECONNRESET":
    case "EPIPE":
    case "ERR_STREAM_PREMATURE_CLOSE":
      return `The connection to ${host} was cut`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "EADDRNOTAVAIL":
      return `${host} cannot be reached over the network`;
    default:
      if (code?.startsWith("ERR_SSL_") || code === "EPROTO") return `The TLS handshake with ${host} failed`;
      return `The connection to ${host} failed: ${message || "no reason given"}`;
  }
}

function isCertificateProblem(code: string | undefined): boolean {
  if (code === undefined) return false;
  return (
    code.includes("CERT") ||
    code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE" ||
    code === "HOSTNAME_MISMATCH" ||
    code === "INVALID_PURPOSE"
  );
}

/** Depending on who noticed first, Node has a code for it or only OpenSSL's words; Bun has its own. */
function isPlainTextAnswer(code: string | undefined, message: string): boolean {
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") return true;
  return code === "EPROTO" && /wrong version number|packet length too long|server speak TLS/.test(message);
}

export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
