import { type Kind, place, shape } from "../protocol/kinds.ts";

/** What a program may say about tries again. */
export const retryKind: Kind = shape(
  { maxRetries: place, baseDelayMs: place, maxDelayMs: place, maxRetryAfterMs: place },
  "an object with maxRetries",
);
