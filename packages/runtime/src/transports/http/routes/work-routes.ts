import { RuntimeError } from "../../../protocol/errors.ts";
import type { Effort } from "../../../model/model.ts";
import type { PermissionMode } from "../../../protocol/permission.ts";
import { listCatalog } from "../../../model/list-catalog.ts";
import { jobGroupsOf } from "../../ws/job-groups.ts";
import { checkEdits } from "../edit-rights.ts";
import type { Route } from "../route.ts";
import * as schemas from "../schemas.ts";

/** Around the conversation: commands, tasks, files, what was used, what holds. */
export const workRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/sessions/{id}/commands",
    operationId: "listCommands",
    summary: "What a prompt may begin with a slash for",
    scope: "drive",
    answers: { 200: { description: "Names and descriptions", schema: schemas.listOf("commands") } },
    handle: async ({ sessions, client, params: { id = "" } }) => ({
      status: 200,
      body: { commands: await sessions.with(client, id, (session) => session.listCommands()) },
    }),
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/commands/{name}",
    operationId: "runCommand",
    summary: "Runs a command for its result, without a turn",
    scope: "drive",
    body: schemas.commandCall,
    isBodyOptional: true,
    answers: { 200: { description: "What it said", schema: schemas.commandResult } },
    async handle({ sessions, client, params: { id = "", name = "" }, body }) {
      const { args = "" } = (body ?? {}) as { args?: string }; // it fits the schema
      const held = await sessions.holdForPrompt(client, id);
      const result = await held.session.executeCommand(name, args).finally(() => held.release());
      if (!result) throw new RuntimeError("not-found", `There is no command ${name}`);
      return { status: 200, body: result };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/tasks",
    operationId: "listTasks",
    summary: "Work beside the conversation, and groups of it",
    scope: "view",
    answers: { 200: { description: "Tasks of the session while it is open", schema: schemas.listOf("tasks") } },
    async handle({ sessions, client, params: { id = "" } }) {
      const session = (await sessions.look(client, id))?.session;
      const groups = session && jobGroupsOf(session, undefined)?.listGroups();
      return { status: 200, body: { tasks: session?.listBackgroundTasks() ?? [], groups: groups ?? [] } };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/tasks/{taskId}/log",
    operationId: "readTaskLog",
    summary: "A page of what a task printed; the next one begins at nextCursor.offset",
    scope: "view",
    query: [
      { name: "offset", schema: { type: "integer", minimum: 0 }, description: "Where the page begins; the start when absent." },
    ],
    answers: { 200: { description: "Lines", schema: schemas.taskLog } },
    async handle({ sessions, client, params: { id = "", taskId = "" }, query }) {
      const served = await sessions.look(client, id);
      if (!served?.session.getBackgroundTask(taskId)) throw new RuntimeError("not-found", `There is no task ${taskId}`);
      const offset = query.get("offset");
      const page = await served.session.readBackgroundTaskLog(taskId, offset === null ? undefined : { offset: Number(offset) });
      return { status: 200, body: page };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/tasks/{taskId}/cancel",
    operationId: "cancelTask",
    summary: "Ends a task; the turn goes on without it",
    scope: "drive",
    answers: { 202: { description: "It ends", schema: schemas.nothing } },
    async handle({ sessions, client, params: { id = "", taskId = "" } }) {
      const served = await sessions.look(client, id);
      if (!(await served?.session.stopTask(taskId))) throw new RuntimeError("not-found", `No task ${taskId} runs`);
      return { status: 202, body: {} };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/checkpoints",
    operationId: "listCheckpoints",
    summary: "Prompts with the files that each of them changed",
    scope: "drive",
    answers: { 200: { description: "Oldest first", schema: schemas.listOf("checkpoints") } },
    handle: async ({ sessions, client, params: { id = "" } }) => ({
      status: 200,
      body: { checkpoints: await sessions.with(client, id, (session) => session.listEditCheckpoints()) },
    }),
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/checkpoints/{checkpointId}",
    operationId: "getCheckpoint",
    summary: "The files of a checkpoint, with what going back would do",
    scope: "drive",
    answers: { 200: { description: "The checkpoint", schema: schemas.anything("Checkpoint") } },
    handle: async ({ sessions, client, params: { id = "", checkpointId = "" } }) => ({
      status: 200,
      body: await sessions.with(client, id, (session) => session.inspectEditCheckpoint(checkpointId)),
    }),
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/checkpoints/{checkpointId}/restore",
    operationId: "restoreCheckpoint",
    summary: "Puts files as the checkpoint left them; with rollback, as they were before it",
    scope: "drive",
    body: schemas.restoring,
    isBodyOptional: true,
    answers: { 200: { description: "What was done", schema: schemas.anything("Restored") } },
    async handle({ sessions, client, params: { id = "", checkpointId = "" }, body }) {
      const { rollback = false, ...options } = (body ?? {}) as { rollback?: boolean; force?: boolean; dryRun?: boolean }; // it fits the schema
      const result = await sessions.with(client, id, (session) => {
        const judged = { ...options, mayChange: (paths: readonly string[]) => checkEdits(client, session, paths) };
        return rollback
          ? session.rollbackEditCheckpoint(checkpointId, judged)
          : session.restoreEditCheckpoint(checkpointId, judged);
      });
      return { status: 200, body: result };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/trajectory",
    operationId: "getTrajectory",
    summary: "The session as ATIF 1.7",
    scope: "view",
    answers: { 200: { description: "A trajectory", schema: schemas.anything("Trajectory") } },
    async handle({ sessions, client, params: { id = "" } }) {
      const trajectory = await sessions.trajectory(client, id);
      if (!trajectory) throw new RuntimeError("not-found", `Session ${id} has no steps yet`);
      return { status: 200, body: trajectory };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/usage",
    operationId: "getUsage",
    summary: "Tokens and cost so far",
    scope: "view",
    answers: {
      200: { description: "As ATIF's final_metrics; empty before the first answer", schema: schemas.anything("Usage") },
    },
    handle: async ({ sessions, client, params: { id = "" } }) => ({
      status: 200,
      body: (await sessions.trajectory(client, id))?.final_metrics ?? {},
    }),
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/settings",
    operationId: "getSettings",
    summary: "What holds for the session: model, mode, tools, agents, skills, MCP servers, sandbox, where settings came from",
    scope: "drive",
    answers: { 200: { description: "Settings as they hold", schema: schemas.anything("SessionSettings") } },
    handle: async ({ sessions, client, params: { id = "" } }) => ({ status: 200, body: await sessions.settings(client, id) }),
  },
  {
    method: "PATCH",
    path: "/v1/sessions/{id}/settings",
    operationId: "changeSettings",
    summary: "Another model, effort or permission mode, from the next request to the model on",
    scope: "drive",
    body: schemas.settingsChange,
    answers: { 200: { description: "Settings as they hold", schema: schemas.anything("SessionSettings") } },
    async handle({ sessions, client, params: { id = "" }, body }) {
      const change = body as { model?: string; effort?: Effort; permissionMode?: PermissionMode }; // it fits the schema
      await sessions.checkChange(client, id, change);
      await sessions.with(client, id, async (session) => {
        const controls = await session.controls();
        if (change.model !== undefined) controls.setModel(change.model);
        if (change.effort !== undefined) controls.setEffort(change.effort);
        if (change.permissionMode !== undefined) controls.setPermissionMode(change.permissionMode);
        await controls.store();
      });
      return { status: 200, body: await sessions.settings(client, id) };
    },
  },
  {
    method: "GET",
    path: "/v1/models",
    operationId: "listModels",
    summary: "Known models with their windows and prices; data has them as OpenAI's clients read it, with agents and profiles",
    scope: "view",
    query: [{ name: "provider", schema: schemas.text, description: "Only those of this provider." }],
    answers: { 200: { description: "The catalog", schema: schemas.modelList } },
    async handle({ query, sessions, client }) {
      const provider = query.get("provider") ?? undefined;
      const catalog = await listCatalog(provider, undefined);
      const own = provider === undefined ? await sessions.modelNames(client) : [];
      return { status: 200, body: { ...catalog, object: "list", data: toOpenAiModels(catalog, own) } };
    },
  },
];

/** `default` is the model of the settings; agents and profiles are named like models. */
function toOpenAiModels({ asOf, models }: Awaited<ReturnType<typeof listCatalog>>, names: readonly string[]): object[] {
  const created = Math.floor(Date.parse(asOf) / 1000) || 0;
  const own = ["default", ...names].map((id) => ({ id, object: "model", created, owned_by: "outrider" }));
  return [...own, ...models.map(({ id, provider }) => ({ id, object: "model", created, owned_by: provider }))];
}
