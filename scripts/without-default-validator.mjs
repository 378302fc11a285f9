/** The MCP client and server are given a validator; the one it would take itself is a third of its size, and writes code from servers' schemas. */
export function withoutDefaultValidator() {
  return {
    name: "without-default-validator",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, () => ({
        path: "shims",
        namespace: "mcp-client",
      }));
      onLoad({ filter: /.*/, namespace: "mcp-client" }, () => ({
        contents:
          'export { default as process } from "node:process"; export const CORS_IS_POSSIBLE = false; export class DefaultJsonSchemaValidator {}',
      }));
    },
  };
}
