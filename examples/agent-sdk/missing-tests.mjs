// missing-tests.mjs FOLDER: which files of a folder have no test? Prints them as JSON.
import { existsSync } from "node:fs";
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const folder = process.argv[2] ?? ".";
const hasTest = tool("has_test", "Whether a file of the folder has a test beside it", { file: z.string() }, async ({ file }) => ({
  content: [{ type: "text", text: String(existsSync(`${folder}/${file.replace(/\.js$/, ".test.js")}`)) }],
}));

const answers = query({
  prompt: "Which .js files here have no test? Ask has_test about each of them.",
  options: {
    // These two lines are what moves the program.
    pathToClaudeCodeExecutable: process.env.OUTRIDER ?? "node_modules/outrider/bin/outrider.js",
    model: process.env.MODEL ?? "openai/gpt-5.5",

    cwd: folder,
    mcpServers: { house: createSdkMcpServer({ name: "house", tools: [hasTest] }) },
    canUseTool: async (name, input) =>
      name === "mcp__house__has_test"
        ? { behavior: "allow", updatedInput: input }
        : { behavior: "deny", message: `${name} is not part of this job` },
    outputFormat: {
      type: "json_schema",
      schema: {
        type: "object",
        properties: { missing: { type: "array", items: { type: "string" } } },
        required: ["missing"],
      },
    },
    maxTurns: 20,
  },
});

for await (const message of answers) {
  if (message.type === "assistant")
    for (const part of message.message.content) if (part.type === "tool_use") process.stderr.write(`${part.name}\n`);
  if (message.type !== "result") continue;
  if (message.subtype !== "success") throw new Error(message.errors.join("\n"));
  process.stdout.write(`${JSON.stringify(message.structured_output)}\n`);
}
