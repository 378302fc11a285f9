import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
/** These programs want a newer Node than the command does. */
const newer = process.env["OUTRIDER_NEWER_NODE"] ?? "";
const outrider = [process.execPath, join(root, "packages/cli/bin/outrider.js")];

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-clients-")));
after(() => rmSync(top, { recursive: true, force: true }));
const script = join(top, "replies.json");
const replies = [{ text: "I look.", calls: [{ name: "Bash", input: { command: "touch made.txt" } }] }, { text: "That is all." }];
writeFileSync(script, JSON.stringify(replies));
const flags = ["--provider", "scripted", "--model", script, "--sandbox", "off"];

type Ended = { readonly code: number; readonly out: string; readonly project: string };

/** Runs a program of the suite in a project and a home of its own. */
async function play(name: string, program: string, args: readonly string[]): Promise<Ended> {
  const [home, project] = [join(top, name, "home"), join(top, name, "project")];
  for (const folder of [home, project]) mkdirSync(folder, { recursive: true });
  const words = [join(root, "test/clients/node_modules", program), ...args];
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  return await new Promise((resolve) =>
    execFile(newer, words, { cwd: project, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), out: `${stdout}${error ? stderr : ""}`, project }),
    ),
  );
}

describe("acpx, a client of ACP", () => {
  const ask = async (name: string, ...args: string[]): Promise<Ended> =>
    await play(name, "acpx/dist/cli.js", [...args, "--agent", [...outrider, "acp", ...flags].join(" "), "exec", "Make a file"]);

  it("runs a prompt, is asked for permission, and lends its terminal", async () => {
    const { code, out, project } = await ask("allowed", "--approve-all");
    assert.deepEqual([code, existsSync(join(project, "made.txt"))], [0, true], out);
    assert.match(
      out,
      /session\/request_permission[\s\S]*terminal\/create[\s\S]*touch made\.txt \(completed\)[\s\S]*That is all\.[\s\S]*end_turn/,
    );
  });

  it("says no, and nothing is done", async () => {
    const { code, out, project } = await ask("denied", "--deny-all");
    assert.deepEqual([code, existsSync(join(project, "made.txt"))], [5, false], out); // its own code for a permission that was denied
    assert.match(out, /That is all\./);
  });
});

describe("the inspector of MCP", () => {
  const call = async (name: string, ...args: string[]): Promise<Ended> =>
    await play(name, "@modelcontextprotocol/inspector/clients/launcher/build/index.js", [
      ...["--cli", ...args, "--"],
      ...[...outrider, "mcp", "serve", ...flags],
    ]);

  it("lists the tools, and finds nothing wrong with their schemas", async () => {
    const { code, out } = await call("tools", "--method", "tools/list", "--strict");
    assert.equal(code, 0, out);
    assert.deepEqual(
      JSON.parse(out).tools.map((tool: { name: string }) => tool.name),
      ["run", "reply", "status", "cancel"],
    );
  });

  it("runs an agent, and lists what there is to read", async () => {
    const ran = await call("run", "--method", "tools/call", "--tool-name", "run", "--tool-arg", "prompt=Make a file");
    assert.equal(ran.code, 0, ran.out);
    const { structuredContent, isError } = JSON.parse(ran.out);
    assert.deepEqual([structuredContent.state, structuredContent.text, isError], ["completed", "That is all.", false]);
    const listed = await call("run", "--method", "resources/list"); // in the same home
    assert.ok(listed.out.includes(`outrider://sessions/${structuredContent.sessionId}`), listed.out);
  });
});
