import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../protocol/content.ts";
import { toToolUseResult } from "./tool-use-result.ts";

describe("toToolUseResult", () => {
  it("names the file that holds the whole of a command's output as Claude Code does", () => {
    const ended = {
      name: "Bash",
      status: "ok",
      durationMs: 1,
      details: { exitCode: 0, fullOutputPath: "/overflow/bash-output.txt", fullOutputBytes: 70_000 },
      result: { content: [{ type: "text", text: "1\n… \n2" }] },
    } as const;
    assert.deepEqual(toToolUseResult({ ...ended, result: { content: [...ended.result.content] } }, { input: {}, cwd: "/" }), {
      stdout: "1\n… \n2",
      stderr: "",
      interrupted: false,
      isImage: false,
      noOutputExpected: false,
      exitCode: 0,
      persistedOutputPath: "/overflow/bash-output.txt",
      persistedOutputSize: 70_000,
      durationMs: 1,
    });
  });

  it("tells what a tool says of itself for programs, with its words where those are meant", () => {
    const ended = {
      name: "Grep",
      status: "ok",
      durationMs: 1,
      result: { content: [{ type: "text" as const, text: "a:1:x" }] },
    } as const;
    const told = { mode: "content", content: null, numLines: 1 };
    const place = { input: {}, cwd: "/" };
    const use = { ...ended, details: { told }, result: { content: [...ended.result.content] } };
    assert.deepEqual(toToolUseResult(use, place), { mode: "content", content: "a:1:x", numLines: 1, durationMs: 1 });
  });

  it("tells what servers have to read as they say it", () => {
    const told = (name: string, structuredContent: JsonObject) =>
      toToolUseResult(
        { name, status: "ok", durationMs: 1, details: { structuredContent }, result: { content: [] } },
        { input: {}, cwd: "/" },
      );
    const resources = [{ server: "s", uri: "note://one", name: "one" }];
    const contents = [{ uri: "note://one", text: "words" }];
    assert.deepEqual(told("ListMcpResourcesTool", { resources }), resources);
    assert.deepEqual(told("ReadMcpResourceTool", { contents }), { contents });
  });
});
