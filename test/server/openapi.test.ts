import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Ground, type Json } from "./ground.ts";

describe("the OpenAPI document", () => {
  const ground = new Ground();
  let document: Json;
  before(async () => {
    await ground.start();
    document = (await ground.ask("GET", "/openapi.json", { token: null })).json;
  });

  it("is of version 3.1, and every reference in it leads somewhere", () => {
    assert.match(document.openapi, /^3\.1\./);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name = ""]) => name,
    );
    assert.ok(references.length > 20);
    for (const name of references) assert.ok(Object.hasOwn(document.components.schemas, name), name);
  });

  it("names every operation once, with its parameters and a problem for what goes wrong", () => {
    const ids: string[] = [];
    for (const [path, operations] of Object.entries<Json>(document.paths))
      for (const operation of Object.values<Json>(operations)) {
        ids.push(operation.operationId);
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const declared = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === "path");
        assert.deepEqual(
          declared.map(({ name, required }: Json) => [name, required]),
          inPath.map((name) => [name, true]),
        );
        assert.ok(operation.responses.default.content["application/problem+json"]);
      }
    assert.equal(new Set(ids).size, ids.length);
  });

  it("says what a request may hold as the server does", async () => {
    const { properties, additionalProperties } = document.components.schemas.SessionWish;
    assert.equal(additionalProperties, false);
    assert.ok("permissionMode" in properties);
    const refused = await ground.ask("POST", "/v1/sessions", { body: { permissionMod: "plan" } });
    assert.deepEqual([refused.status, refused.json.code], [400, "usage"]);
    assert.equal(refused.headers["content-type"], "application/problem+json");
  });
});
