import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SessionPlan } from "@outrider/runtime/host";
import { toldSettings } from "./told-settings.ts";

type Resolved = SessionPlan["resolved"];
type Provenance = Awaited<ReturnType<Resolved["explain"]>>[number];

describe("the settings a host is told", () => {
  const said = (scope: "user" | "project", value: string | string[], verdict: "used" | "ignored" = "used") =>
    ({ path: `/${scope}.json`, scope, value, verdict }) as Provenance["from"][number];
  const told = async (explained: readonly Provenance[], model?: string) =>
    await toldSettings({
      explain: async () => [...explained],
      settings: { claude: { model } },
      files: ["/user.json"],
    } as unknown as Resolved); // of all that was resolved it reads these

  it("stand in each other as in a file: what holds, and what each place says", async () => {
    const explained: Provenance[] = [
      { key: "permissions.deny", value: ["Bash"], from: [said("user", ["Bash"])] },
      { key: "permissions.defaultMode", value: "plan", from: [said("user", "plan"), said("project", "default", "ignored")] },
      { key: "model", value: "m", from: [said("project", "m")] },
      { key: "effort", value: undefined, from: [] },
    ];
    const permissions = { deny: ["Bash"], defaultMode: "plan" };
    assert.deepEqual(await told(explained), {
      effective: { permissions, model: "m" },
      sources: [
        { source: "userSettings", settings: { permissions } },
        { source: "projectSettings", settings: { model: "m" } },
      ],
      files: ["/user.json"],
    });
  });

  it("touch nothing but themselves, whatever a key is called", async () => {
    await told([{ key: "env.__proto__.polluted", value: "yes", from: [] }]);
    assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
  });

  it("name the model of Claude Code's files where no other is", async () => {
    assert.deepEqual((await told([], "sonnet"))["effective"], { model: "sonnet" });
    assert.deepEqual((await told([{ key: "model", value: "m", from: [] }], "sonnet"))["effective"], { model: "m" });
  });
});
