// Loaded as a whole when it is first needed. Not `import("yaml")` at that point: bundled, a CommonJS package answers that with a default export alone.
export { LineCounter, parseAllDocuments, parseDocument } from "yaml";
