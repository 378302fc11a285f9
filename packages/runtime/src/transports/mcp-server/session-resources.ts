import { toMessages } from "../../journal/transcript.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { toTrajectory } from "../atif/write/trajectory.ts";
import type { McpHost } from "./mcp-host.ts";

export type ListedResource = {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: "application/json";
};

const prefix = "outrider://sessions";
const pageLength = 50;

type Template = Omit<ListedResource, "uri"> & { readonly uriTemplate: string };

export const resourceTemplates: Template[] = [
  {
    uriTemplate: `${prefix}/{sessionId}`,
    name: "session",
    title: "A session",
    description: "The messages of a session",
    mimeType: "application/json",
  },
  {
    uriTemplate: `${prefix}/{sessionId}/trajectory`,
    name: "trajectory",
    title: "The trajectory of a session",
    description: "What happened in a session, step by step, as ATIF",
    mimeType: "application/json",
  },
];

/** The latest first: each session, and its trajectory. */
export async function listResources(
  host: McpHost,
  cursor: string | undefined,
): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(start) || start < 0) throw new RuntimeError("usage", `There is no page ${cursor}`);
  const sessions = await host.list();
  const page = sessions.slice(start, start + pageLength);
  const resources = page.flatMap(({ id, name, prompt, cwd, updatedAt }): ListedResource[] => {
    const title = name ?? prompt;
    const about = `${cwd}, ${updatedAt}`;
    const mimeType = "application/json";
    return [
      { uri: `${prefix}/${id}`, name: `session-${id}`, title, description: `Messages. ${about}`, mimeType },
      { uri: `${prefix}/${id}/trajectory`, name: `trajectory-${id}`, title, description: `ATIF. ${about}`, mimeType },
    ];
  });
  const next = start + pageLength;
  return { resources, ...(next < sessions.length && { nextCursor: String(next) }) };
}

/** Undefined when there is no such resource. */
export async function readResource(host: McpHost, uri: string): Promise<string | undefined> {
  const [, id, part] = /^outrider:\/\/sessions\/([^/]+)(?:\/(trajectory))?$/.exec(uri) ?? [];
  if (id === undefined || !host.store || !(await host.store.has(id))) return undefined;
  const events = await host.store.read(id);
  if (part === "trajectory") return JSON.stringify(toTrajectory(events) ?? null, null, 2);
  const summary = (await host.list()).find((session) => session.id === id);
  return JSON.stringify({ ...summary, messages: toMessages(events) }, null, 2);
}
