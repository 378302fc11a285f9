import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { model, run, tempFolder } from "./command.ts";

type Ended = { code: number | null; warnings: string; tools: string[] };

/** One run against a model that answers at once: how it ended, and what it was warned of. */
async function end(args: readonly string[], mcpFile?: string): Promise<Ended> {
  const [cwd, home] = [tempFolder(), tempFolder()];
  if (mcpFile !== undefined) writeFileSync(join(cwd, ".mcp.json"), mcpFile);
  const { env, server } = await model([{ text: "ok" }], home);
  const { code, stdout, stderr } = await run([...args, "--output-format", "json", "-p", "--", "hi"], { env, cwd });
  const { tools = [] } = (server.requests[0]?.body ?? {}) as { tools?: { name: string }[] };
  const { warnings = [] } = JSON.parse(stdout || "{}") as { warnings?: string[] };
  return { code, warnings: [...warnings, stderr].join("\n"), tools: tools.map(({ name }) => name) };
}

describe("what programs written for other releases of Claude Code say", { timeout: 120_000 }, () => {
  const rows: [args: string[], warning: RegExp][] = [
    [["--allowedTools", "Nosuch,Read"], /--allowedTools: There is no tool "Nosuch".*allows nothing/],
    [["--allowedTools", "Bsh(ls:*)"], /There is no tool "Bsh"; did you mean Bash\?.*allows nothing/],
    [["--allowedTools", "Bash(touch"], /Not a permission rule: "Bash\(touch".*allows nothing/],
    [["--tools", "Read,Nosuch"], /--tools: There is no tool "Nosuch"/],
    [["--effort", "hihg"], /--effort cannot be "hihg"\. Did you mean high\?/],
    [["--effort", "extreme"], /--effort cannot be "extreme".*Choose from: minimal, low.*The model's own effort is used/],
    [["--fork-session"], /--fork-session has no effect/],
  ];
  for (const [args, warning] of rows)
    it(`is passed over with a warning: ${args.join(" ")}`, async () => {
      const { code, warnings, tools } = await end(args);
      assert.equal(code, 0, warnings);
      assert.match(warnings, warning);
      if (args[0] === "--tools") assert.deepEqual(tools, ["Read"]);
    });

  it("ends a strict run before it starts", async () => {
    for (const [args] of rows) assert.equal((await end(["--flavor", "caliban", ...args])).code, 64, args.join(" "));
  });

  it("says nothing where nothing is lost: hook frames of a format that has none, no snapshot of the prompt, no browser", async () => {
    const { code, warnings } = await end(["--include-hook-events", "--system-prompt-snapshot", "off", "--no-chrome"]);
    assert.deepEqual([code, warnings], [0, ""]);
  });

  it("is still refused where a prohibition would vanish, and where nothing would be left", async () => {
    for (const args of [
      ["--disallowedTools", "Wrte"],
      ["--tools", "Foo"],
      ["--system-prompt-snapshot", "on"],
    ])
      assert.equal((await end(args)).code, 64, args.join(" "));
  });

  it("costs nothing but its own servers when it is a .mcp.json that cannot be read", async () => {
    const { code, warnings } = await end(["--trust-project"], "{broken");
    assert.equal(code, 0, warnings);
    assert.match(warnings, /\.mcp\.json is not valid JSON/);
  });
});
