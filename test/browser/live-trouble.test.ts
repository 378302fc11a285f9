import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { findBrowser, openBrowser, seriousFindings } from "./browser.ts";
import { LiveGround, type Script, screens, waitText } from "./live-ground.ts";
import { attacks } from "./sample-runs.ts";

const script: Script = (prompt, results) => {
  const attack = attacks[Number(/attack (\d+)/.exec(prompt)?.[1] ?? -1)];
  if (attack !== undefined)
    return results === 0
      ? {
          reasoning: attack,
          text: attack,
          calls: [{ name: "Bash", input: { command: `touch made.txt && echo ${JSON.stringify(attack.slice(0, 2000))}` } }],
        }
      : { text: attack };
  if (prompt.includes("slow")) return { text: "slowly ".repeat(600), chunkDelayMs: 50 };
  return { text: `Answer to ${prompt}` };
};

describe("the page of the server in trouble", { skip: findBrowser() === undefined && "there is no Chromium here" }, () => {
  const ground = new LiveGround(script);
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
    await ground.start();
  });
  after(async () => {
    await browser?.close();
    await ground.end();
  });

  test("goes on without a reload, and without a loss, when the server is killed and comes back", async () => {
    const { page, complaints } = await ground.look(browser);
    await ground.signIn(page);
    const { id } = await ground.client.createSession();
    await ground.client.prompt(id, "number one");
    await page.locator(`a[data-session="${id}"]`).click();
    await waitText(page, ".steps", "Answer to number one");
    await page.evaluate("window.isSame = true");
    await page.locator("#prompt").fill("something slow");
    await page.locator("#prompt").press("Enter");
    await waitText(page, ".is-draft", "slowly slowly");
    await page.locator("#prompt").fill("typed while nobody listens");
    await ground.kill();
    await waitText(page, ".banner", "Connection lost");
    assert.ok(await page.getByRole("button", { name: /^(?:Steer|Send)$/ }).isDisabled());
    await page.screenshot({ path: join(screens, "live-offline.png") });
    assert.deepEqual(await seriousFindings(page), []);
    await ground.startAgain();
    await page
      .getByRole("button", { name: "Try now" })
      .click()
      .catch(() => undefined); // it has come back by itself
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Send" }).waitFor();
    assert.equal(await page.inputValue("#prompt"), "typed while nobody listens");
    await page.locator("#prompt").press("Enter");
    await waitText(page, ".steps", "Answer to typed while nobody listens");
    const told = await page.locator(".step .prose").allTextContents();
    const count = (words: string): number => told.filter((text) => text.includes(words)).length;
    assert.deepEqual(
      [count("Answer to number one"), count("Answer to typed"), await page.evaluate("window.isSame")],
      [1, 1, true],
    );
    assert.deepEqual(complaints, []);
  });

  test("a token that may only look sees what happens and no controls, and so does a shared link", async () => {
    const { id } = await ground.client.createSession();
    await ground.client.prompt(id, "for others to see");
    const { page: owner } = await ground.look(browser, { path: `/#/${id}` });
    await ground.signIn(owner);
    await owner.getByRole("button", { name: "Share" }).click();
    await owner.getByRole("button", { name: "Make a link" }).click();
    const link = (await owner.locator("dialog pre").textContent()) ?? "";
    await owner.screenshot({ path: join(screens, "live-share.png") });
    const { page, complaints } = await ground.look(browser, { path: link.slice(ground.url.length) });
    await waitText(page, ".steps", "Answer to for others to see");
    assert.ok(!page.url().includes("share"));
    const controls = page.locator(
      "textarea, .btn-primary, .btn-danger, .perm button, button:has-text('Share'), button:has-text('New')",
    );
    assert.equal(await controls.count(), 0);
    await waitText(page, ".only-look", "You are looking on");
    await ground.client.prompt(id, "and once more");
    await waitText(page, ".steps", "Answer to and once more");
    await page.screenshot({ path: join(screens, "live-viewer.png") });
    assert.deepEqual(await seriousFindings(page), []);
    assert.deepEqual(complaints, []);
  });

  test("runs nothing of what a model, a command or a name says", async () => {
    const { page, complaints } = await ground.look(browser);
    await page.addInitScript(
      "window.addEventListener('securitypolicyviolation', (e) => console.error('violation ' + e.violatedDirective))",
    );
    await page.reload();
    await ground.signIn(page);
    const { id } = await ground.client.createSession({ name: attacks[0]?.slice(0, 200) ?? "" });
    await page.locator(`a[data-session="${id}"]`).click();
    const deny = page.getByRole("button", { name: /^Deny/ });
    let asked = 0;
    for (const at of attacks.keys()) {
      let isOver = false;
      const ended = ground.client.prompt(id, `attack ${at}`).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        if (await deny.isEnabled({ timeout: 200 }).catch(() => false)) {
          asked++;
          await deny.click({ timeout: 5000 }).catch(() => undefined); // it is answered already
        }
      }
      await ended;
    }
    assert.ok(asked > 0);
    await page.locator(".fin").waitFor();
    await page.locator(".scroll").focus();
    assert.equal(await page.evaluate("window.pwned"), undefined);
    assert.equal(await page.locator(".steps script, .steps iframe, .steps object, .steps a[href^='javascript']").count(), 0);
    await page.screenshot({ path: join(screens, "live-hostile.png") });
    assert.deepEqual(complaints, []);
  });
});
