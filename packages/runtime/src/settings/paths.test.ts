import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { outriderHome } from "./home.ts";
import { projectPaths, userPaths } from "./paths.ts";

describe("paths", () => {
  it("of a project are in its .outrider folder", () => {
    const { root, settings, localSettings, ...folders } = projectPaths("/p");
    assert.deepEqual(
      [root, settings, localSettings],
      ["/p/.outrider", "/p/.outrider/settings.json", "/p/.outrider/settings.local.json"],
    );
    for (const [name, path] of Object.entries(folders)) assert.equal(path, `/p/.outrider/${name}`);
  });

  it("of the user are where settings and sessions of the user are", () => {
    assert.deepEqual(userPaths("/h"), {
      root: "/h",
      settings: "/h/settings.json",
      sessions: "/h/sessions",
      memory: "/h/memory",
    });
    assert.equal(userPaths().root, outriderHome(process.env));
  });
});
