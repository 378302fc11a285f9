import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { createTaskTool } from "./task.ts";

const bench = createToolBench();
after(() => bench.close());

describe("a task for a subagent", () => {
  const task = createTaskTool(
    ["reviewer", "tester"].map((name) => ({ name, description: `A ${name}.`, prompt: "Work.", source: "test" })),
  );
  const ask = (more: object): Promise<string> => bench.say(task, { description: "look", prompt: "Look at it.", ...more });

  it("names the agents there are when it is for none of them", async () => {
    assert.deepEqual(
      [await ask({ subagent_type: "writer" }), await ask({})],
      [
        'There is no agent "writer". The agents are: reviewer, tester.',
        'There is no agent "". The agents are: reviewer, tester.',
      ],
    );
  });

  it("says so where no subagent can be started", async () => {
    assert.equal(await ask({ subagent_type: "reviewer" }), "No subagent can be started here.");
  });

  it("finds an agent whose name came in other letters, and judges it by its own", async () => {
    assert.equal(await ask({ subagent_type: "Reviewer" }), "No subagent can be started here.");
    const { resources } = await task.access({ prompt: "x", subagent_type: "TESTER" }, bench.workspace);
    assert.deepEqual(resources, ["tester"]);
  });
});
