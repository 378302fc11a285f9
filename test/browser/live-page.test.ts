import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { findBrowser, openBrowser, seriousFindings } from "./browser.ts";
import { LiveGround, type Script, screens } from "./live-ground.ts";

const todos = [
  { content: "Look at the cart", status: "completed" },
  { content: "Change the rounding", status: "in_progress" },
  { content: "Run the tests", status: "pending" },
];

const script: Script = (prompt, results) => {
  if (prompt.includes("touch"))
    return results === 0
      ? { text: "I make the file.", calls: [{ name: "Bash", input: { command: "touch made.txt && echo made it" } }] }
      : { text: "The file is **there**." };
  if (prompt.includes("rich"))
    return (
      [
        { text: "First the plan.", calls: [{ name: "TodoWrite", input: { todos } }] },
        {
          text: "",
          calls: [
            { name: "Read", input: { file_path: "cart.ts" } },
            { name: "Bash", input: { command: "cat no-such-file" } },
          ],
        },
        {
          text: "Now the change.",
          calls: [{ name: "Edit", input: { file_path: "cart.ts", old_string: "Math.round(total)", new_string: "cents(total)" } }],
        },
        {
          text: "Then the dependency.",
          calls: [{ name: "Bash", input: { command: "npm install decimal.js@10.4.3 --save-exact" } }],
        },
      ][results] ?? { text: "Done: the total is in whole cents." }
    );
  if (prompt.includes("slow")) return { text: "slowly ".repeat(400), chunkDelayMs: 40 };
  return { text: `You said: ${prompt}` };
};

const waitText = async (page: Page, selector: string, text: string | RegExp): Promise<void> =>
  await page.locator(selector, { hasText: text }).first().waitFor({ timeout: 30_000 });

describe("the page of the server", { skip: findBrowser() === undefined && "there is no Chromium here" }, () => {
  const ground = new LiveGround(script);
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
    writeFileSync(join(ground.cwd, "cart.ts"), "export const sum = (total: number) => Math.round(total);\n".repeat(1));
    writeFileSync(join(ground.cwd, "secret.env"), "x\n");
    await ground.start();
  });
  after(async () => {
    await browser?.close();
    await ground.end();
  });

  const begin = async (page: Page, text: string): Promise<string> => {
    await page.getByRole("button", { name: "New" }).click();
    await page.locator("#prompt").fill(text);
    await page.locator("#prompt").press("Enter");
    await page.waitForSelector("main[data-session][data-ready=yes]");
    return (await page.getAttribute("main", "data-session")) ?? "";
  };

  test("lets in with the right token only, keeps no token, and goes on after a reload until somebody signs out", async () => {
    const { page, complaints } = await ground.look(browser);
    await page.locator("#token").fill("not-the-token-of-anybody");
    await page.getByRole("button", { name: "Sign in" }).click();
    await waitText(page, "[role=alert]", "not a token of this server");
    await page.screenshot({ path: join(screens, "live-login.png") });
    assert.deepEqual(await seriousFindings(page), []);
    await ground.signIn(page);
    await page.reload();
    await page.waitForSelector(".app");
    const kept = (await page.evaluate(
      "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])",
    )) as string;
    assert.ok(!kept.includes(ground.token));
    const [cookie] = await page.context().cookies(`${ground.url}/v1/x`);
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, cookie?.value === ground.token], [true, "Strict", false]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.locator("#token").waitFor();
    assert.deepEqual(await page.context().cookies(`${ground.url}/v1/x`), []);
    assert.deepEqual(complaints, []);
  });

  test("two browsers drive one session: a permission that one answers is gone in the other", async () => {
    const [one, other] = [await ground.look(browser), await ground.look(browser)];
    await ground.signIn(one.page);
    const id = await begin(one.page, "please touch a file");
    await ground.signIn(other.page);
    await other.page.locator(`[data-session="${id}"]`).first().click();
    for (const { page } of [one, other]) await waitText(page, ".perm-c", "touch made.txt && echo made it");
    assert.match(await one.page.title(), /^Waiting for you/);
    assert.match((await one.page.textContent(".perm-r")) ?? "", /exactly this/);
    await other.page.screenshot({ path: join(screens, "live-permission.png") });
    assert.deepEqual(await seriousFindings(other.page), []);
    await one.page.locator(".bar h1").click();
    await one.page.keyboard.press("a"); // single keys answer nothing unless somebody has chosen that
    assert.equal(await other.page.locator(".perm").count(), 1);
    await other.page.getByRole("button", { name: /^Allow once/ }).click();
    for (const { page } of [one, other]) {
      await page.locator(".perm").waitFor({ state: "detached" });
      await waitText(page, ".steps", "The file is there.");
    }
    assert.ok(existsSync(join(ground.cwd, "made.txt")));
    await other.page.locator("#prompt").fill("and now from the other one");
    await other.page.locator("#prompt").press("Enter");
    for (const { page } of [one, other]) await waitText(page, ".steps", "You said: and now from the other one");
    assert.deepEqual([...one.complaints, ...other.complaints], []);
  });
});
