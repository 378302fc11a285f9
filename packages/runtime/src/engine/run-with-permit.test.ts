import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { PermissionGate } from "../permissions/gate.ts";
import { parseRule, type Rule } from "../permissions/rules.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { createToolMemory } from "../tools/tool.ts";
import { createRedactor } from "../util/redact.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import type { RunCommand, Workspace } from "../workspace/workspace.ts";
import { RepeatedCalls } from "./repeated-calls.ts";
import { runToolCall } from "./tool-call.ts";
import { bash, bashCall, callbackHooks } from "../../../../test/support/bash-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-permit-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const local = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });

const answered = { tool: "Bash", kind: "run", resource: "npm ci", cwd: folder } as const;
const grant: Rule = { ...parseRule("Bash(npm ci)"), exactly: answered };

type Case = {
  name: string;
  command: string;
  mode?: PermissionMode;
  allow?: (string | Rule)[];
  hook?: "allow";
  answer?: "allow";
  way: string;
};

const cases: Case[] = [
  { name: "only looks", command: "ls", way: "box whole" },
  { name: "only looks, in plan mode", command: "git log", mode: "plan", way: "box whole" },
  { name: "changes files where the mode lets it", command: "touch a", mode: "acceptEdits", way: "box whole" },
  { name: "is named by a rule", command: "npm test", allow: ["Bash(npm test:*)"], way: "outside" },
  { name: "is named by a rule that was not needed", command: "ls", allow: ["Bash(ls:*)"], way: "outside" },
  { name: "is named by a rule for the whole tool", command: "npm test", allow: ["Bash"], way: "outside" },
  { name: "is named in part", command: "npm test && git status", allow: ["Bash(npm test:*)"], way: "outside parts" },
  {
    name: "is named in all parts",
    command: "npm test && ls",
    allow: ["Bash(npm test:*)", "Bash(ls:*)"],
    way: "outside",
  },
  { name: "was answered before", command: "npm ci", allow: [grant], way: "outside" },
  { name: "runs because permissions are bypassed", command: "npm ci", mode: "bypassPermissions", way: "outside" },
  { name: "looks while permissions are bypassed", command: "ls", mode: "bypassPermissions", way: "outside" },
  { name: "is allowed by a hook", command: "npm ci", hook: "allow", way: "outside" },
  { name: "gets a yes", command: "npm ci", answer: "allow", way: "outside" },
];

describe("a command that", () => {
  for (const { name, way, ...facts } of cases) it(`${name} runs: ${way}`, async () => assert.equal(await wayOf(facts), way));
});

async function wayOf({ command, mode = "default", allow = [], hook, answer }: Omit<Case, "name" | "way">): Promise<string> {
  const ran: RunCommand[] = [];
  const workspace: Workspace = {
    ...local,
    async run(one) {
      ran.push(one);
      return { end: "exit", exitCode: 0 };
    },
  };
  const gate = new PermissionGate();
  const allows = { PreToolUse: [{ hooks: [() => ({ hookSpecificOutput: { permissionDecision: hook } })] }] };
  const hooks = hook && callbackHooks(allows, workspace);
  await runToolCall(
    {
      tools: new Map([["Bash", bash]]),
      workspace,
      memory: createToolMemory(),
      policy: () => ({
        mode,
        allow: allow.map((rule) => (typeof rule === "string" ? parseRule(rule, "settings.json") : rule)),
        ask: [],
        deny: [],
        base: { root: folder, home: undefined },
        readable: [],
        inertGit: async () => "/inert",
      }),
      gate,
      answerable: answer !== undefined,
      outputLimit: 1000,
      redactor: createRedactor(),
      emit(event) {
        if (event.type === "permission.requested") queueMicrotask(() => gate.answer(event.requestId, answer ?? "deny"));
      },
      flush: async () => {},
      signal: new AbortController().signal,
      newId: () => "r1",
      clock: () => 0,
      halt: () => {},
      halted: () => undefined,
      repeats: new RepeatedCalls({ noteAt: 3, stopAt: 6 }),
      hooks,
    },
    bashCall(command),
  );
  return ran.map(({ place, unasked }) => [place, unasked].filter(Boolean).join(" ")).join();
}
