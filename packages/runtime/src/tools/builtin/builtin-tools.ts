import type { Tool } from "../tool.ts";
import { type BashLimits, createBashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { notebookEditTool } from "./notebook-edit.ts";
import { readTool } from "./read.ts";
import { todoWriteTool } from "./todo-write.ts";
import type { WebFetchOptions } from "./web-fetch.ts";
import { createWebFetchTool } from "./web-fetch.ts";
import type { WebSearchBackend } from "./web-search.ts";
import { createWebSearchTool } from "./web-search.ts";
import { writeTool } from "./write.ts";

export type BuiltinToolOptions = {
  /** Answers WebSearch; without it the tool says that it is not set up. */
  readonly webSearch?: WebSearchBackend;
  readonly webFetch?: WebFetchOptions;
  readonly bash?: BashLimits | undefined;
  /** False: Glob and Grep use their own search even where ripgrep is installed. */
  readonly ripgrep?: boolean;
};

export function createBuiltinTools(options: BuiltinToolOptions = {}): Tool[] {
  const search = { ripgrep: options.ripgrep ?? true };
  return [
    createBashTool(options.bash),
    readTool,
    writeTool,
    editTool,
    notebookEditTool,
    createGlobTool(search),
    createGrepTool(search),
    createWebFetchTool(options.webFetch),
    createWebSearchTool(options.webSearch ? { webSearch: options.webSearch } : {}),
    todoWriteTool,
  ];
}
