import type { Tool } from "../tool.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createWebFetchTool } from "./web-fetch.ts";
import { createWebSearchTool } from "./web-search.ts";

/** Built-in tools one by one, for programs that offer them changed or under another name. */
export { applyPatchTool } from "./apply-patch.ts";
export { bashTool } from "./bash.ts";
export { editTool } from "./edit.ts";
export { notebookEditTool } from "./notebook-edit.ts";
export { readTool } from "./read.ts";
export { todoWriteTool } from "./todo-write.ts";
export { writeTool } from "./write.ts";
export const globTool: Tool = /* @__PURE__ */ createGlobTool();
export const grepTool: Tool = /* @__PURE__ */ createGrepTool();
export const webFetchTool: Tool = /* @__PURE__ */ createWebFetchTool();
/** Says that it is not set up; one that searches is made by `createBuiltinTools({ webSearch })`. */
export const webSearchTool: Tool = /* @__PURE__ */ createWebSearchTool();
