import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cast, eventsOf, stageFolder, task } from "../../../../../test/support/subagent-stage.ts";

const { open } = stageFolder();

describe("/agent while agents work in the background", () => {
  it("reads, tells, waits for, stops and forgets them", async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const heard: string[] = [];
    const provider = cast({
      parent: ({ messages }) =>
        JSON.stringify(messages).includes("tool-call")
          ? { text: "They work." }
          : { calls: ["first", "second"].map((prompt) => task(prompt, { run_in_background: true })) },
      child: async ({ messages }) => {
        const words = JSON.stringify(messages);
        if (!words.includes("tool-call")) return { text: "I look.", calls: [{ name: "Read", input: { file_path: "n.txt" } }] };
        await released;
        if (words.includes("Hurry")) heard.push("Hurry");
        return { text: "Seven." };
      },
    });
    const { session, events, close } = open(provider, { wakes: false });
    await session.submit("go");
    const group = await session.createBackgroundJobGroup({ waitPolicy: "wait_any", taskIds: ["agent_1", "agent_2"] });
    const type = async (text: string): Promise<string> => {
      const outcome = await session.submit(text);
      return outcome.type === "failed" ? outcome.error.message : outcome.text;
    };

    assert.match(await type("/agent list"), /agent_1 running: a task\nagent_2 running: a task$/);
    assert.match(await type("/agent close agent_1"), /Cannot close active background task/);
    assert.equal(await type("/agent send agent_1 Hurry up"), "agent_1 was told");
    assert.equal(await type("/agent stop agent_2"), "agent_2 is stopped");
    assert.match(await type(`/agent wait ${group.id}`), /^\[cancelled\] a task agent_2: Somebody stopped it/);
    release();
    await session.finishBackgroundTasks();
    assert.deepEqual([...new Set(heard)], ["Hurry"]);
    assert.match(await type("/agent read agent_1"), /\[stdout\] I look\.[\s\S]*Read n\.txt[\s\S]*Seven\./);
    assert.match(await type("/agent read agent_1 9999"), /nothing more was printed/);
    assert.equal(await type("/agent close agent_1"), "agent_1 is forgotten");
    assert.match(await type("/agent read agent_1"), /agent_1/);
    assert.match(await type("/agent wait group_9"), /Unknown background job group: group_9/);
    assert.match(await type("/agent dance agent_2"), /^There is \/agent list/);
    await close();
    assert.deepEqual(
      eventsOf(events, "background.ended").map(({ task: { id, status } }) => `${id} ${status}`),
      ["agent_2 cancelled", "agent_1 completed"],
    );
  });

  it("starts several as a group that nobody waits for, with --detach", async () => {
    const provider = cast({ parent: () => ({ text: "Thanks." }), child: () => ({ text: "Seven." }) });
    const { session, events, close } = open(provider);
    const outcome = await session.submit("/agent parallel --detach general-purpose look here ;; Explore look there");
    assert.equal(
      outcome.text,
      "group_1 works in the background (/agent wait group_1):\nagent_1 general-purpose\nagent_2 Explore",
    );
    await session.finishBackgroundTasks();
    assert.match((await session.submit("/agent wait group_1")).text, /agent_1: Seven\.[\s\S]*agent_2: Seven\./);
    const unknown = await session.submit("/agent parallel --detach Explore look ;; Explorer look");
    assert.match(unknown.type === "failed" ? unknown.error.message : "", /did you mean Explore/);
    const wrong = await session.submit("/agent parallel --later Explore look");
    assert.match(wrong.type === "failed" ? wrong.error.message : "", /--wait and --detach/);
    await close();
    assert.deepEqual(
      eventsOf(events, "group.created").map(({ group: { waitPolicy, taskIds } }) => [waitPolicy, taskIds]),
      [["detached", ["agent_1", "agent_2"]]],
    );
    assert.equal(eventsOf(events, "background.created").length, 2);
  });
});
