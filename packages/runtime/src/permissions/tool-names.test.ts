import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkRuleTool, unknownTool, unofferedTool } from "./tool-names.ts";

describe("names of tools", () => {
  it("are those of this program, of Claude Code, of hosts and of any MCP server", () => {
    for (const name of ["Bash", "Write", "ExitPlanMode", "mcp__files__read", "mcp__x"])
      assert.equal(unknownTool(name), undefined);
    assert.equal(unknownTool("deploy", ["deploy"]), undefined);
    assert.equal(unknownTool("Wrte"), 'There is no tool "Wrte"; did you mean Write?');
    assert.equal(unknownTool("deploi", ["deploy"]), 'There is no tool "deploi"; did you mean deploy?');
    assert.match(unknownTool("xyzzy") ?? "", /^There is no tool "xyzzy"(?!; did you mean)/);
    assert.match(unknownTool("xmcp__files") ?? "", /^There is no tool "xmcp__files"/);
  });

  it("are all that Claude Code announces at the start of a session", () => {
    const announced =
      "AskUserQuestion Bash CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree Glob Grep ListAgents " +
      "Monitor NotebookEdit Read ReportFindings ScheduleWakeup SendMessage Skill StructuredOutput Task TaskCreate TaskGet TaskList TaskStop " +
      "TaskUpdate ToolSearch WebFetch WebSearch Workflow Write";
    assert.deepEqual(
      announced.split(" ").flatMap((name) => unknownTool(name) ?? []),
      [],
    );
  });

  it("can be offered also where that depends on skills and agents", () => {
    assert.deepEqual(["Read", "Skill", "SendMessage"].map(unofferedTool), [undefined, undefined, undefined]);
    assert.match(unofferedTool("Workflow") ?? "", /There is no tool "Workflow"/);
  });

  it("may have a wildcard where some name begins like that", () => {
    for (const name of ["*", "Web*", "mcp*", "m*", "Task*"]) assert.equal(unknownTool(name), undefined, name);
    assert.equal(unknownTool("dep*", ["deploy"]), undefined);
    for (const name of ["Webb*", "Fetch*", "loy*", "mcpx*"])
      assert.match(unknownTool(name, ["deploy"]) ?? "", /There is no tool/);
  });

  it("are checked in rules, with where the rule stands", () => {
    checkRuleTool("Bash(ls)", { where: "--deny", code: "usage" });
    checkRuleTool("deploy", { where: "--deny", code: "usage", more: ["deploy"] });
    assert.throws(() => checkRuleTool("Wrte(./a)", { where: "--deny", code: "usage" }), {
      code: "usage",
      message: '--deny: There is no tool "Wrte"; did you mean Write?',
      hint: /upper and lower case/,
    });
    assert.throws(() => checkRuleTool("bash", { where: "a.json", code: "config" }), { code: "config" });
  });
});
