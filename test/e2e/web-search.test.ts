import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { model, run, tempFolder } from "./command.ts";

const home = tempFolder("search-home");
const project = tempFolder("search-project");
const engine = createServer((_, response) => {
  response.end(
    JSON.stringify({ results: [{ title: "Storks", url: "https://birds.example/storks", content: "They fly south." }] }),
  );
});
after(() => engine.close());

describe("WebSearch", () => {
  it("is offered where the settings name an engine, and asks it", async () => {
    await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`; // it listens on a port
    const { env, server } = await model(
      [{ calls: [{ name: "WebSearch", input: { query: "storks" } }] }, { text: "ok" }, { text: "none" }],
      join(home, "a"),
    );
    const settings = JSON.stringify({ webSearch: { engine: "searxng", url } });
    const args = ["-p", "x", "--settings", settings, "--allowedTools", "WebSearch"];
    assert.equal((await run(args, { env, cwd: project })).code, 0);
    assert.match(JSON.stringify(server.requests[1]?.body), /1\. Storks.*https:\/\/birds\.example\/storks.*They fly south/);
    await run(["-p", "x"], { env, cwd: project });
    const names = (Object(server.requests[2]?.body).tools as { name: string }[]).map(({ name }) => name);
    assert.ok(names.includes("WebFetch") && !names.includes("WebSearch"));
  });

  it("ends the run where its engine has no key", async () => {
    const { env } = await model([{ text: "ok" }], join(home, "b"));
    const { code, stderr } = await run(["-p", "x", "--settings", '{"webSearch":{"engine":"brave"}}'], { env, cwd: project });
    assert.equal(code, 78);
    assert.match(stderr, /webSearch\.engine is brave, and there is no key for it[\s\S]*Set BRAVE_API_KEY/);
  });
});
