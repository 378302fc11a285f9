import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { findBrowser, openBrowser, seriousFindings } from "./browser.ts";
import { LiveGround, type Script, screens, waitText } from "./live-ground.ts";

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

describe("the page of the server", { skip: findBrowser() === undefined && "there is no Chromium here" }, () => {
  const ground = new LiveGround(script);
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
    writeFileSync(join(ground.cwd, "cart.ts"), "export const sum = (total: number) => Math.round(total);\n");
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
    assert.match((await one.page.textContent(".perm-r")) ?? "", /covers this until the session ends/);
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

  test("a rich session by keyboard: plan, errors, edit, completion, queue, diff and the way back", async () => {
    const { page, complaints } = await ground.look(browser);
    await ground.signIn(page);
    await page.getByRole("button", { name: "New" }).click();
    await page.getByLabel("Permission mode").selectOption("acceptEdits");
    await page.locator("#prompt").fill("rich: round in whole cents");
    await page.locator("#prompt").press("Enter");
    await waitText(page, ".perm-c", "npm install decimal.js");
    await waitText(page, ".todo", "Change the rounding");
    await waitText(page, ".files", "cart.ts");
    await page.locator("#prompt").fill("then say thanks");
    await page.locator("#prompt").press("Alt+Enter");
    await waitText(page, ".queue", "then say thanks");
    await page.locator("#prompt").fill("look at @car");
    await page.locator("#prompt").press("End");
    await page.keyboard.type("t");
    await waitText(page, ".complete .opt", "@cart.ts");
    await page.screenshot({ path: join(screens, "live-rich-light.png") });
    assert.deepEqual(await seriousFindings(page), []);
    await page.keyboard.press("Enter");
    assert.equal(await page.inputValue("#prompt"), "look at @cart.ts ");
    await page.locator("#prompt").fill("/");
    await page.locator("#prompt").press("End");
    await page.keyboard.type("comp");
    await waitText(page, ".complete .opt", "/compact");
    await page.keyboard.press("Escape");
    await page.locator(".complete").waitFor({ state: "detached" });
    await page.locator("#prompt").fill("");
    await page.getByLabel("Reason for the agent").fill("no new dependency");
    await page.keyboard.press("Enter");
    await waitText(page, ".steps", "Done: the total is in whole cents.");
    await waitText(page, ".steps", "You said: then say thanks");
    assert.equal(await page.evaluate("document.activeElement.id"), "prompt"); // and not nowhere, with the card that is gone
    await page.locator(".bar h1").click();
    await page.keyboard.press("E");
    assert.equal(await page.locator(".is-sel.is-error").count(), 1);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /Show the diff/ }).click();
    await waitText(page, "dialog .diff", "cents(total)");
    await page.screenshot({ path: join(screens, "live-diff.png") });
    assert.deepEqual(await seriousFindings(page), []);
    await page.getByRole("button", { name: "Go back" }).last().click();
    await page.getByRole("button", { name: "Put the files back" }).click();
    await waitText(page, "dialog .status", "1 file put back");
    assert.match(readFileSync(join(ground.cwd, "cart.ts"), "utf8"), /Math\.round/);
    assert.deepEqual(complaints, []);
  });

  test("dark, narrow and on a phone everything is within reach", async () => {
    const { page, complaints } = await ground.look(browser, { colorScheme: "dark" });
    await ground.signIn(page);
    await page.getByRole("button", { name: "New" }).click();
    await page.getByLabel("Permission mode").selectOption("acceptEdits");
    await page.locator("#prompt").fill("rich: once more");
    await page.locator("#prompt").press("Enter");
    await waitText(page, ".perm-c", "npm install decimal.js");
    await page.screenshot({ path: join(screens, "live-dark.png") });
    assert.deepEqual(await seriousFindings(page), []);
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.getByRole("button", { name: "Plan" }).click();
    await waitText(page, ".todo", "Change the rounding");
    await page.screenshot({ path: join(screens, "live-1024-plan.png") });
    await page.getByRole("button", { name: "Steps" }).click();
    await page.setViewportSize({ width: 390, height: 780 });
    await page.screenshot({ path: join(screens, "live-phone.png") });
    assert.deepEqual(await seriousFindings(page), []);
    const wide = (await page.evaluate("document.documentElement.scrollWidth - innerWidth")) as number;
    assert.ok(wide <= 0, `${wide} px stick out`);
    for (const name of [/^Allow once/, /^Always allow/, /^Deny/]) assert.ok(await page.getByRole("button", { name }).isVisible());
    await page.getByRole("button", { name: "Back to sessions" }).click();
    await page.locator(".srow").first().waitFor();
    await page.screenshot({ path: join(screens, "live-phone-list.png") });
    await page.locator(".srow").first().click();
    await page.getByRole("button", { name: /^Deny/ }).click();
    await waitText(page, ".steps", "Done: the total is in whole cents.");
    assert.deepEqual(complaints, []);
  });
});
