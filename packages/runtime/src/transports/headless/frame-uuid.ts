/**
 * The name of the frame for one block of an assistant message. It follows from the message and the block's place in it, so that a frame
 * on stdout and the same block in a stored session have the same name. UUIDs stay UUIDs (version 8 of RFC 9562: made by a rule of our own).
 */
export function frameUuid(messageId: string, index: number): string {
  const groups = uuid.exec(messageId);
  if (!groups) return hashed(`${messageId} ${index}`);
  const [, head, middle, random, rest] = groups;
  // Twelve bits are free: adding keeps blocks of one message apart, everything else keeps messages apart.
  const place = (Number.parseInt(random ?? "0", 16) + index) % 0x1000;
  return `${head}-${middle}-8${place.toString(16).padStart(3, "0")}-${rest}`;
}

/** The name of the frame for a stored event, such as a tool's result: it follows from the session and the event's number. */
export function eventUuid(sessionId: string, seq: number): string {
  const groups = uuid.exec(sessionId);
  if (!groups) return hashed(`${sessionId} event ${seq}`);
  const [, head, middle, , rest] = groups;
  const number = seq.toString(16).padStart(12, "0");
  return `${head}-${middle}-8${number.slice(0, 3)}-${(rest ?? "").slice(0, 4)}-${number.slice(3)}${(rest ?? "").slice(-3)}`;
}

const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-[0-9a-f]([0-9a-f]{3})-([89ab][0-9a-f]{3}-[0-9a-f]{12})$/;

/** For ids that hosts make up. */
function hashed(text: string): string {
  const hex = process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}
