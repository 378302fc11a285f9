import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { bin, cleanEnv, projectRoot, tempFolder } from "../e2e/command.ts";
import { findBrowser, openBrowser, seriousFindings } from "./browser.ts";

const screens = join(projectRoot, ".cache/screens");

describe("examples/chat-page", { skip: findBrowser() === undefined && "there is no Chromium here" }, () => {
  const top = tempFolder("chat");
  const [home, project, example] = [join(top, "home"), join(top, "project"), join(top, "chat-page")];
  let browser: Browser;
  const children: ChildProcess[] = [];
  before(async () => {
    for (const folder of [home, project, screens]) mkdirSync(folder, { recursive: true });
    cpSync(join(projectRoot, "examples/chat-page"), example, { recursive: true });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    for (const child of children) child.kill();
  });

  /** Starts a program and answers the first line it prints that fits. */
  async function started(args: readonly string[], line: RegExp): Promise<string> {
    const child = spawn(process.execPath, args, {
      cwd: project,
      env: cleanEnv({ HOME: home }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let said = "";
    return await new Promise((resolve, reject) => {
      const hear = (text: string): void => {
        said += text;
        const found = line.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", hear);
      child.on("close", (code) => reject(new Error(`It ended with ${code}: ${said}`)));
    });
  }

  test("begins a session, shows words and calls, asks, and comes back after a break without a gap", async () => {
    const page = await started([join(example, "page.mjs"), "0"], /(http:\/\/127\.0\.0\.1:\d+)\n/);
    const script = join(example, "replies.json");
    const way = await openWay();
    after(() => way.close());
    const flags = [
      "--allow-host",
      new URL(way.url).host,
      "--allow-origin",
      page,
      "--provider",
      "scripted",
      "--model",
      script,
      "--sandbox",
      "off",
    ];
    const server = await started([bin, "serve", "--port", "0", ...flags], /listens on (http:\/\/127\.0\.0\.1:\d+)/);
    way.lead(Number(new URL(server).port));
    const tab = await (await browser.newContext()).newPage();
    const complaints: string[] = [];
    tab.on("pageerror", (error) => complaints.push(String(error)));
    await tab.goto(page);
    assert.deepEqual(await seriousFindings(tab), []);
    await tab.getByLabel("Server").fill(way.url);
    await tab.getByLabel("Token").fill("wrong");
    await tab.getByRole("button", { name: "Begin a session" }).click();
    await tab.getByRole("status").getByText(/token/i).waitFor();
    const token = readFileSync(join(home, ".outrider/server/token"), "utf8").trim();
    await tab.getByLabel("Token").fill(token);
    await tab.getByRole("button", { name: "Begin a session" }).click();
    await tab.getByText("connected", { exact: true }).waitFor();

    await tab.getByLabel("Prompt").fill("What is <b>here</b>?");
    await tab.getByRole("button", { name: "Send" }).click();
    await tab.getByText("I write it down.").waitFor();
    assert.ok(!existsSync(join(project, "note.txt")), "nothing is written before somebody says yes");
    await tab.getByRole("button", { name: "Allow" }).click();
    await tab.getByText("There is a shop here").waitFor();
    assert.equal(readFileSync(join(project, "note.txt"), "utf8"), "seen\n");
    const rows = await tab.locator("#talk li").allTextContents();
    assert.deepEqual(rows, [
      "What is <b>here</b>?",
      "I look around.",
      "Glob *: success",
      "I write it down.",
      "Write note.txt: success",
      "There is a shop here, and I made a note of it.",
    ]);

    way.cut();
    await tab.getByText("disconnected, trying again").waitFor();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const { sessions } = (await (await fetch(`${server}/v1/sessions`, { headers })).json()) as { sessions: { id: string }[] };
    const body = JSON.stringify({ text: "Thank you" });
    await fetch(`${server}/v1/sessions/${sessions[0]?.id}/messages`, { method: "POST", headers, body });
    way.mend();
    await tab.getByText("You are welcome.").waitFor();
    assert.deepEqual(await tab.locator("#talk li").allTextContents(), [...rows, "Thank you", "You are welcome."]);
    await tab.screenshot({ path: join(screens, "chat-page.png"), fullPage: true });
    assert.deepEqual(await seriousFindings(tab), []);
    assert.deepEqual(complaints, []);
  });
});

/** A way to a port that can be cut, so that connections break in the middle. */
async function openWay() {
  const sockets = new Set<Socket>();
  let [port, isCut] = [0, false];
  const listener = createServer((incoming) => {
    if (isCut) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(port, "127.0.0.1");
    for (const socket of [incoming, outgoing]) sockets.add(socket.on("error", () => socket.destroy()));
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, // it listens on TCP
    cut,
    lead(to: number): void {
      port = to;
    },
    mend(): void {
      isCut = false;
    },
    close(): void {
      cut();
      listener.close();
    },
  };
}
