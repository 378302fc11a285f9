/** The wire formats of other front ends over sessions: OpenAI's, the AI SDK's, AG-UI, A2A. See docs/dialects.md. */
export { createDialectHost, type DialectHostOptions } from "../transports/dialects/dialect-host.ts";
export { createDialects, type DialectHost, type Dialects } from "../transports/dialects/serve-dialects.ts";
