import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { bin, cleanEnv, projectRoot, run, tempFolder } from "../e2e/command.ts";
import { findBrowser, openBrowser, seriousFindings } from "./browser.ts";

const screens = join(projectRoot, ".cache/screens");

describe("outrider docs in a browser", { skip: findBrowser() === undefined && "there is no Chromium here" }, () => {
  let browser: Browser;
  let server: ChildProcess;
  let url = "";
  before(async () => {
    mkdirSync(screens, { recursive: true });
    server = spawn(process.execPath, [bin, "docs"], {
      cwd: tempFolder("docs"),
      env: cleanEnv(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    url = await new Promise((resolve, reject) => {
      let said = "";
      server.stdout?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const found = /(http:\/\/127\.0\.0\.1:\d+)\//.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
      server.on("close", (code) => reject(new Error(`It ended with ${code}: ${said}`)));
    });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    server?.kill();
  });

  async function show(path: string, options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(180_000); // machines that run tests are busy
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => request.url().startsWith(url) || complaints.push(`it asks for ${request.url()}`));
    await page.goto(`${url}/${path}`);
    return { page, complaints };
  }

  for (const [name, options] of [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 390, height: 844 } }],
  ] as const)
    test(`nothing stands in the way of anybody: ${name}`, async () => {
      for (const path of ["", "docs/ci.html", "docs/api/testing.html"]) {
        const { page, complaints } = await show(path, options);
        assert.deepEqual(await seriousFindings(page), [], path);
        const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert.ok(Number(wide) <= 0, `${path} is ${wide} px too wide`);
        await page.screenshot({ path: join(screens, `docs-${path.replace(/\W/g, "-") || "first"}-${name}.png`) });
        assert.deepEqual(complaints, []);
        await page.close();
      }
    });

  test("finds a section by its words, and leads there", async () => {
    const { page, complaints } = await show("");
    await page.keyboard.press("/");
    await page.keyboard.type("remembered answers");
    const first = page.locator("#found li a").first();
    await first.waitFor();
    assert.match((await first.textContent()) ?? "", /Permissions: Remembered answers/);
    await page.screenshot({ path: join(screens, "docs-search.png") });
    assert.deepEqual(await seriousFindings(page), []);
    await first.click();
    await page.waitForURL(/docs\/permissions\.html#remembered-answers$/);
    await page.waitForLoadState("networkidle"); // what is typed into a page that goes away is lost
    await page.getByLabel("Search").fill("xyzzyx");
    await page.getByText("Nothing was found").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("article").isVisible(), true);
    assert.deepEqual(complaints, []);
  });

  test("keeps the reader's choice of light or dark", async () => {
    const { page } = await show("docs/ci.html");
    await page.getByRole("button", { name: "Dark" }).click();
    await page.goto(`${url}/docs/mcp.html`);
    assert.equal(await page.getAttribute("html", "data-theme"), "dark");
    await page.getByRole("button", { name: "Light" }).waitFor();
  });
});

test("outrider docs opens nothing but its own pages, and ends with a signal", async () => {
  const child = spawn(process.execPath, [bin, "docs", "--port", "0"], { env: cleanEnv(), stdio: ["ignore", "pipe", "ignore"] });
  const url = await new Promise<string>((resolve) =>
    child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(/http:\S+/.exec(text)?.[0] ?? "")),
  );
  const asked = async (path: string, method = "GET") => (await fetch(`${url}${path}`, { method })).status;
  assert.deepEqual(
    await Promise.all([asked(""), asked("docs/ci.html"), asked("..%2f..%2fetc/passwd"), asked("toString"), asked("", "POST")]),
    [200, 200, 404, 404, 405],
  );
  child.kill("SIGINT");
  assert.equal(await new Promise((resolve) => child.on("close", resolve)), 0);
});

test("outrider docs says what it takes", async () => {
  const [help, wrong, port] = await Promise.all([run(["docs", "--help"]), run(["docs", "ci"]), run(["docs", "--port", "x"])]);
  assert.deepEqual([help.code, wrong.code, port.code], [0, 64, 64]);
  assert.match(help.stdout, /^Usage:\n {2}outrider docs \[--port N\]/);
});
