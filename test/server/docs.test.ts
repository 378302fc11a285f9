import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { serveSwitches, serveValues } from "../../packages/cli/src/commands/serve/open-server.ts";
import { projectRoot } from "../e2e/command.ts";
import { Ground } from "./ground.ts";

const page = readFileSync(join(projectRoot, "docs/server.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = "", text = ""]) => ({ language, text }));

async function run(
  file: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number | null; out: string }> {
  const child = spawn(file, args, { cwd: projectRoot, env: { PATH: process.env["PATH"] ?? "", ...env } });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
  return await new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
}

describe("docs/server.md", () => {
  it("has an example of the client that runs as it is written", async () => {
    const ground = await new Ground([{ text: "Nothing but air." }]).start();
    const example = blocks.find(({ language, text }) => language === "js" && text.includes("OutriderClient"))?.text ?? "";
    const env = { OUTRIDER_URL: ground.url, OUTRIDER_SERVER_TOKEN: ground.owner };
    const ended = await run(process.execPath, ["--input-type=module", "-e", example], env);
    assert.deepEqual(ended, { code: 0, out: "Nothing but air.\n" });
  });

  it("has commands for curl that work as they are written, from a session to its events", async () => {
    const ground = await new Ground([{ text: "Nothing but air." }]).start();
    const lines = (blocks[0]?.text ?? "").split("\n").filter((line) => line.startsWith("curl"));
    assert.equal(lines.length, 3);
    const id = await ground.session();
    const [, prompt = "", events = ""] = lines.map((line) => line.replaceAll("ID", id));
    const env = { TOKEN: ground.owner, URL: ground.url };
    assert.match((await run("sh", ["-c", lines[0] ?? ""], env)).out, /"state":"open"/);
    assert.match((await run("sh", ["-c", prompt], env)).out, /"text":"Nothing but air\."/);
    assert.match((await run("sh", ["-c", `${events} --max-time 2`], env)).out, /^id: \d+\ndata: \{.*"turn\.ended"/m);
  });

  it("names no flag of serve that there is not", () => {
    const named = [...page.matchAll(/outrider serve(?! token)([^\n`|]*)/g)].flatMap(
      ([, rest = ""]) => rest.match(/--[a-z-]+/g) ?? [],
    );
    assert.ok(named.length > 5);
    const run = ["--model", "--permission-mode", "--allow-dangerously-skip-permissions"];
    for (const flag of named) assert.ok([...serveSwitches, ...serveValues, ...run].includes(flag), flag);
  });
});
