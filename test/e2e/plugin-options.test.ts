import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { isWithin } from "../../packages/runtime/src/plugins/plugin-needs.ts";
import { lines, model, projectRoot, run, tempFolder } from "./command.ts";

const echo = join(projectRoot, "test/contract/tiny-mcp-server.mjs");

/** A home, a project, and plugins with these files. */
async function place(files: Readonly<Record<string, unknown>>) {
  const top = tempFolder("plugin-options");
  for (const [name, content] of Object.entries({ "project/.keep": "", ...files })) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const told = await model([{ text: "one" }, { text: "two" }, { text: "three" }], join(top, "home"));
  const env = { ...told.env, HOME: top, REVIEW_TOKEN: "s3cret-value-of-mine" };
  const outrider = (args: readonly string[]) => run(args, { cwd: join(top, "project"), env });
  return { top, outrider, requests: told.server.requests };
}

/** `${user_config.KEY}`. */
const at = (key: string): string => `\${user_config.${key}}`;

const userConfig = {
  team: { type: "string", title: "Team", required: true },
  depth: { type: "number" },
  token: { type: "string", sensitive: true },
  unset: { type: "string", default: "never told" },
};
const bundle = {
  "plug/.claude-plugin/plugin.json": { name: "plug", userConfig },
  "plug/skills/ask/SKILL.md": `---\ndescription: asks\n---\nFor ${at("team")}, ${at("depth")} deep, ${at("token")}, ${at("unset")}.`,
  "plug/hooks/hooks.json": {
    hooks: {
      UserPromptSubmit: [
        {
          hooks: [
            { type: "command", command: "env | grep ^CLAUDE_PLUGIN_OPTION_ | sort > options.txt" },
            { type: "command", command: "/bin/sh", args: ["-c", 'printf %s "$1" > exec.txt', "x", at("team")] },
          ],
        },
      ],
    },
  },
};

describe("what a plugin wants to know from its user", () => {
  it("reaches its hooks, programs and texts where it is set, and no model as a secret", async () => {
    const options = { team: "blue & co", depth: 3, token: "$ENV:REVIEW_TOKEN" };
    const { top, outrider, requests } = await place({
      ...bundle,
      "plug/.mcp.json": {
        mcpServers: {
          srv: { command: process.execPath, args: [echo, at("token")], env: { TEAM: at("team") } },
        },
      },
      "home/settings.json": { pluginConfigs: { "plug@inline": { options } } },
    });
    const ended = await outrider(["-p", "/plug:ask", "--plugin-dir", join(top, "plug"), "--output-format", "stream-json"]);
    assert.equal(ended.code, 0, ended.stderr);
    const read = (name: string): string => readFileSync(join(top, "project", name), "utf8");
    assert.equal(
      read("options.txt"),
      "CLAUDE_PLUGIN_OPTION_DEPTH=3\nCLAUDE_PLUGIN_OPTION_TEAM=blue & co\nCLAUDE_PLUGIN_OPTION_TOKEN=s3cret-value-of-mine\n",
    );
    assert.equal(read("exec.txt"), "blue & co");
    const sent = JSON.stringify(requests[0]?.body);
    assert.match(sent, /For blue & co, 3 deep, \$\{user_config\.token\}, \$\{user_config\.unset\}\./);
    assert.doesNotMatch(sent, /s3cret/);
  });

  it("is told where it is missing, does not fit or is unknown, and a project cannot say it", async () => {
    const { top, outrider } = await place({
      ...bundle,
      "home/settings.json": { pluginConfigs: { "plug@inline": { options: { depth: "deep", colour: "red" } } } },
      "project/.outrider/settings.json": { pluginConfigs: { "plug@inline": { options: { team: "theirs" } } } },
    });
    const ended = await outrider(["-p", "hi", "--plugin-dir", join(top, "plug"), "--trust-project"]);
    assert.match(ended.stderr, /Plugin plug: the option team is needed and not set/);
    assert.match(ended.stderr, /the option depth must be a number/);
    assert.match(ended.stderr, /it has no option colour/);
  });

  it("is set by a command, for the sessions that begin from then on", async () => {
    const { top, outrider, requests } = await place(bundle);
    await outrider(["plugins", "install", join(top, "plug"), "--yes"]);
    const asked = await outrider(["plugins", "configure", "plug"]);
    assert.match(asked.stdout, /^team \(string, needed\): Team$/m);
    assert.match(asked.stdout, /^token \(string, secret\)/m);
    assert.equal((await outrider(["plugins", "configure", "plug", "team=green", "depth=2"])).code, 0);
    assert.equal((await outrider(["plugins", "configure", "plug", "depth=much"])).code, 64);
    await outrider(["-p", "/plug:ask"]);
    assert.match(JSON.stringify(requests[0]?.body), /For green, 2 deep/);
  });

  it("is no part of a line for a shell", async () => {
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: `echo ${at("team")}` }] }] };
    const { top, outrider } = await place({ ...bundle, "plug/hooks/hooks.json": { hooks } });
    const ended = await outrider(["-p", "hi", "--plugin-dir", join(top, "plug"), "--output-format", "stream-json"]);
    assert.equal(ended.code, 78); // a hook that would watch and cannot ends the run
    assert.match(ended.stdout, /CLAUDE_PLUGIN_OPTION_KEY/);
  });
});

describe("plugins that need others", () => {
  const plugin = (name: string, more: object = {}) => ({
    [`${name}/.claude-plugin/plugin.json`]: { name, version: "1.4.0", ...more },
    [`${name}/skills/${name}/SKILL.md`]: `---\ndescription: ${name}\n---\nx`,
  });
  const countIn = async (files: Readonly<Record<string, unknown>>, names: readonly string[]) => {
    const { top, outrider } = await place(files);
    const flags = names.flatMap((name) => ["--plugin-dir", join(top, name)]);
    const init = lines((await outrider(["-p", "hi", ...flags, "--output-format", "stream-json"])).stdout).find(
      ({ subtype }) => subtype === "init",
    );
    const { plugins, plugin_errors: errors } = init as { plugins: { name: string }[]; plugin_errors?: unknown };
    return [plugins.map(({ name }) => name), JSON.stringify(errors ?? [])] as const;
  };

  it("count with them, in whatever order they are named", async () => {
    const files = { ...plugin("base"), ...plugin("top", { dependencies: [{ name: "base", version: "^1.2" }] }) };
    assert.deepEqual(await countIn(files, ["top", "base"]), [["top", "base"], "[]"]);
  });

  it("do not count without them, nor with another version, nor what needs those", async () => {
    const files = {
      ...plugin("base"),
      ...plugin("top", { dependencies: [{ name: "base", version: ">=2" }] }),
      ...plugin("over", { dependencies: ["top"] }),
    };
    const [names, errors] = await countIn(files, ["over", "top", "base"]);
    assert.deepEqual(names, ["base"]);
    assert.match(errors, /dependency-unsatisfied.*needs the plugin base >=2, and 1\.4\.0 is there/);
    assert.match(errors, /needs the plugin top, which does not count \(outrider plugins install top\)/);
  });

  it("name ranges as npm has them", () => {
    const cases: [version: string, range: string, fits: boolean][] = [
      ["1.2.3", "1.2.3", true],
      ["1.2.4", "1.2.3", false],
      ["1.9.0", "^1.2", true],
      ["2.0.0", "^1.2", false],
      ["2.0.0-rc.1", "^1.2", false],
      ["0.2.9", "^0.2.3", true],
      ["0.3.0", "^0.2.3", false],
      ["1.2.9", "~1.2.3", true],
      ["1.3.0", "~1.2.3", false],
      ["1.10.0", ">=1.9 <2", true],
      ["1.5.0", "1.x", true],
      ["2.0.0", "1.x || 2.x", true],
      ["3.1.4", "*", true],
      ["", "^1", false],
    ];
    assert.deepEqual(
      cases.map(([version, range]) => isWithin(version, range)),
      cases.map(([, , fits]) => fits),
    );
  });
});
