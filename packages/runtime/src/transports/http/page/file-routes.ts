import { diffLines } from "../../../tools/diff.ts";
import type { ChangedSince } from "../../../session/files/edit-checkpoints.ts";
import type { Route } from "../route.ts";
import * as schemas from "../schemas.ts";

const mostFound = 50;
const mostDiffLines = 5_000;

/** The files of a session's folder: those a prompt may name, and those it has changed. */
export const fileRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/sessions/{id}/files",
    operationId: "findFiles",
    summary: "Files of the session's folder that a prompt may name with @, best first",
    scope: "drive",
    query: [{ name: "query", schema: schemas.text, description: "Letters of their path, in this order; all when absent." }],
    answers: {
      200: {
        description: "At most 50 paths, without what git ignores and what rules keep from being read",
        schema: {
          title: "FoundFiles",
          type: "object",
          properties: { files: schemas.list({ type: "string" }), isComplete: { type: "boolean" } },
          required: ["files", "isComplete"],
        },
      },
    },
    handle: async ({ sessions, client, params: { id = "" }, query }) => ({
      status: 200,
      body: await sessions.with(client, id, async (session) =>
        (await session.controls()).findFiles({ query: query.get("query") ?? "", limit: mostFound }),
      ),
    }),
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/diff",
    operationId: "getDiff",
    summary: "Files that are not as they were when the session first changed them; what commands changed is not among them",
    scope: "drive",
    answers: { 200: { description: "The files with the lines that differ", schema: schemas.listOf("files") } },
    handle: async ({ sessions, client, params: { id = "" } }) => ({
      status: 200,
      body: await sessions.with(client, id, async (session) => {
        const { checkpoints } = await session.controls();
        const all = await checkpoints.list().catch(() => []); // none are kept
        const commands = all.reduce((sum, { commandCount }) => sum + commandCount, 0);
        return { files: (await checkpoints.changes()).map(toFile), commands };
      }),
    }),
  },
];

function toFile({ texts, before, after, shown, checkpoints }: ChangedSince): object {
  return {
    file: shown,
    checkpoints,
    ...(before === "absent" && { created: true }),
    ...(after === "absent" && { removed: true }),
    ...(texts && { diff: diffLines(texts.before, texts.after, mostDiffLines) }),
  };
}
