import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Ground } from "./ground.ts";

describe("what belongs to whoever runs the server", () => {
  it("is not changed by what a client types: plugins, providers, styles, what is kept for the user", async () => {
    const ground = await new Ground([{ text: "never" }]).start();
    const token = ground.token({ name: "driver", scopes: ["drive", "approve"] });
    const id = await ground.session({ token });
    const settings = join(ground.top, ".outrider/settings.json");
    const before = existsSync(settings) ? readFileSync(settings, "utf8") : "";
    const plugin = join(ground.cwd, "plug");
    mkdirSync(join(plugin, ".claude-plugin"), { recursive: true });
    writeFileSync(join(plugin, ".claude-plugin/plugin.json"), '{"name":"evil","version":"1.0.0"}');
    for (const words of [
      `/plugin install ${plugin} --yes`,
      "/provider add evil openai-compatible m",
      "/provider use evil",
      "/output-style explanatory",
      "/user-local memory set k v",
    ]) {
      const { json } = await ground.ask("POST", `/v1/sessions/${id}/messages`, { token, body: { text: words } });
      assert.match(JSON.stringify(json), /whoever runs the server does it/, words);
      const [, name = "", args = ""] = /^\/(\S+) (.*)$/.exec(words) ?? [];
      const asked = await ground.ask("POST", `/v1/sessions/${id}/commands/${name}`, { token, body: { args } });
      assert.match(JSON.stringify(asked.json), /whoever runs the server does it/, words);
    }
    const after = existsSync(settings) ? readFileSync(settings, "utf8") : "";
    assert.equal(after, before);
  });

  it("is not read by way of a model's name", async () => {
    const ground = await new Ground([{ text: "never" }]).start();
    const token = ground.token({ name: "driver", scopes: ["drive", "approve"] });
    const secret = join(ground.cwd, "..", "secret.txt");
    writeFileSync(secret, "TOPSECRET");
    for (const path of [secret, `${secret}.missing`]) {
      const { status, json } = await ground.ask("POST", "/v1/sessions", { token, body: { model: `scripted/${path}` } });
      assert.equal(status, 403);
      assert.doesNotMatch(JSON.stringify(json), /TOPSECRET|ENOENT/);
    }
  });

  it("a share ends with the token that made it", async () => {
    const ground = await new Ground().start();
    const token = ground.token({ name: "maker", scopes: ["drive"] });
    const id = await ground.session({ token });
    const share = await ground.ask("POST", `/v1/sessions/${id}/share`, { token, body: { expiresInSeconds: 31_536_000 } });
    const look = async (): Promise<number> =>
      (await ground.ask("GET", `/v1/sessions/${id}/messages`, { token: share.json.token })).status;
    assert.equal(await look(), 200);
    ground.tokens.remove("maker");
    assert.equal(await look(), 401);
  });
});
