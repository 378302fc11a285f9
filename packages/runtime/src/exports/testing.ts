/** For tests of programs that use the runtime: a scripted model server over real sockets, and the kits that stores must pass. */
export { type ModelServer, type ModelServerOptions, type ServerReply, startModelServer } from "../testing/model-server.ts";
export { type ConformanceCase, sessionStoreConformance } from "../testing/store-conformance.ts";
export { sandboxClientConformance } from "../testing/sandbox-client-conformance.ts";
