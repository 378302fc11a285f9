import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import openapiTS, { astToString } from "openapi-typescript";
import { toOpenApi } from "../../packages/runtime/src/transports/http/openapi.ts";
import { routes } from "../../packages/runtime/src/transports/http/routes/routes.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
/** Below the suite, so that its settings of the compiler hold. */
const folder = mkdtempSync(join(root, "test/dialects/.cache/openapi-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const document = JSON.stringify(toOpenApi(routes, "1.2.3"));

describe("the OpenAPI document", () => {
  it("passes the recommended rules of a linter that was not written here", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: document, absoluteRef: join(folder, "openapi.json"), config });
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ""}`),
      [],
    );
  });

  it("is what our own client sends and expects, in the types of a generator that was not written here", async () => {
    writeFileSync(join(folder, "document.ts"), astToString(await openapiTS(document)));
    assert.equal(compile(matches), "");
  });
});

/** What the client sends is what the document takes, and what the document promises has what the client reads. */
const matches = `
import type { components, paths } from "./document.ts";
import type { AcceptedRemotely, OutriderClient, PromptResult, RemoteSession, RemoteSummary, SessionWish } from "../../../../packages/runtime/src/exports/client.ts";

type Schemas = components["schemas"];
type Body<P extends keyof paths, M extends keyof paths[P]> =
  paths[P][M] extends { requestBody?: { content: { "application/json": infer Wish } } } ? Wish : never;
type Answer<P extends keyof paths, M extends keyof paths[P], S extends number> =
  paths[P][M] extends { responses: infer All } ? (S extends keyof All ? (All[S] extends { content: { "application/json": infer Told } } ? Told : never) : never) : never;
/** Every field that one side has to have is one that the other has. */
type Has<Whole, Part> = [keyof Part] extends [keyof Whole] ? true : Exclude<keyof Part, keyof Whole>;

export const created: Has<Answer<"/v1/sessions", "post", 201>, RemoteSession> = true;
export const shown: Has<Answer<"/v1/sessions/{id}", "get", 200>, RemoteSession> = true;
export const listed: Has<Answer<"/v1/sessions", "get", 200>["sessions"][number], RemoteSummary> = true;
export const state: RemoteSession["state"] = {} as Schemas["Session"]["state"];
export const sequence: number = {} as Schemas["Session"]["storedSeq"];
export const prompted: Has<Answer<"/v1/sessions/{id}/messages", "post", 200>, PromptResult> = true;
export const accepted: AcceptedRemotely = {} as Answer<"/v1/sessions/{id}/steer", "post", 202>;
export const shared: Awaited<ReturnType<OutriderClient["share"]>> = {} as Answer<"/v1/sessions/{id}/share", "post", 201>;

const wish = {} as SessionWish;
export const wanted: Body<"/v1/sessions", "post"> = { model: "m", permissionMode: "plan", cwd: "/", maxTurns: 1 };
export const known: Has<Body<"/v1/sessions", "post">, typeof wish> = true;
export const steering: Body<"/v1/sessions/{id}/steer", "post"> = { text: "go on" };
export const answered: Body<"/v1/sessions/{id}/permissions/{requestId}", "post"> = { decision: "allow", remember: "session" };
// The check can fail: what the document does not have is refused.
// @ts-expect-error
export const doubtful: Body<"/v1/sessions/{id}/permissions/{requestId}", "post"> = { decision: "perhaps" };
// @ts-expect-error
export const missing: Has<Schemas["Session"], { readonly nothingLikeThis: string }> = true;
export const message: Body<"/v1/sessions/{id}/messages", "post"> = { text: "hello", mode: "steer", wait: false };
`;

function compile(source: string): string {
  writeFileSync(join(folder, "matches.ts"), source);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../../../tsconfig.json", include: ["*.ts"], exclude: [] }),
  );
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "--noEmit", "-p", folder], { cwd: root, encoding: "utf8" });
  return stdout;
}
