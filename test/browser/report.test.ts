import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { findBrowser, openBrowser, seriousFindings } from "./browser.ts";
import { hostileTranscript, longTranscript, variedSession, wideSession } from "./sample-runs.ts";

const command = join(process.cwd(), "packages/cli/bin/outrider.js");
const screens = join(process.cwd(), ".cache/screens");

describe("the report as a browser shows it", { skip: findBrowser() === undefined && "there is no Chromium here" }, () => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-report-"));
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
    mkdirSync(screens, { recursive: true });
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Writes a run down and looks at its page; whatever the page complains of is in `complaints`. */
  async function show(
    name: string,
    text: string,
    options: BrowserContextOptions & { hash?: string } = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const [input, output] = [join(folder, `${name}.jsonl`), join(folder, `${name}.html`)];
    writeFileSync(input, text);
    execFileSync(process.execPath, [command, "report", input, "-o", output, "--force"], {
      env: { PATH: process.env["PATH"], HOME: folder },
      stdio: "pipe",
    });
    const { hash = "", ...context } = options;
    const page = await (await browser.newContext(context)).newPage();
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on(
      "request",
      (request) => /^(?:file|data|blob):/.test(request.url()) || complaints.push(`it asks for ${request.url()}`),
    );
    page.on("dialog", (dialog) => complaints.push(`it says ${dialog.message()}`));
    await page.goto(`${pathToFileURL(output)}${hash}`);
    await page.waitForSelector(".strip");
    return { page, complaints };
  }

  test("outcome, figures and steps are there, and the page asks nobody for anything", async () => {
    const { page, complaints } = await show("varied", variedSession());
    assert.match((await page.textContent("h1")) ?? "", /the limit of turns was reached/);
    assert.match((await page.textContent(".cause")) ?? "", /npm install decimal\.js in step 7: Denied/);
    assert.equal(await page.locator("[data-n]").count(), 8);
    assert.match((await page.textContent(".strip")) ?? "", /2 errors/);
    await page.screenshot({ path: join(screens, "report-light.png"), fullPage: true });
    assert.deepEqual(complaints, []);
  });

  test("of a file that was edited several times, what it came to stands first, with the steps it is of", async () => {
    const place = mkdtempSync(join(folder, "edits-"));
    const edit = (from: string, to: string) => ({
      name: "Edit",
      input: { file_path: "a.txt", old_string: from, new_string: to },
    });
    writeFileSync(join(place, "a.txt"), "one\ntwo\nthree\n");
    const replies = [
      { text: "", calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
      { text: "", calls: [edit("two", "zwei")] },
      { text: "", calls: [edit("zwei", "deux"), edit("three", "drei")] },
      { text: "", calls: [edit("drei", "three")] },
      { text: "Done." },
    ];
    writeFileSync(join(place, "replies.json"), JSON.stringify(replies));
    const flags = ["--provider", "scripted", "--model", "replies.json", "--permission-mode", "acceptEdits", "--sandbox", "off"];
    const env = { ...process.env, OUTRIDER_HOME: join(place, "home") };
    execFileSync(process.execPath, [command, "-p", "go", ...flags], { stdio: "pipe", cwd: place, env });
    const [log = ""] = readdirSync(join(place, "home/sessions")).filter((name) => name.endsWith(".jsonl"));
    const { page, complaints } = await show("edits", readFileSync(join(place, "home/sessions", log), "utf8"));
    await page.keyboard.press("2");
    const rows = await page.locator("#p-changes .ch-f > .block tr").allTextContents();
    assert.deepEqual(rows, ["1one", "2−two", "2+deux", "3three"]);
    assert.match((await page.textContent("#p-changes .ch-f > .block .block-h")) ?? "", /by step 4/);
    assert.equal(await page.locator("#p-changes .each .block").count(), 4);
    await page.click("#p-changes .each summary");
    await page.screenshot({ path: join(screens, "report-edits.png") });
    assert.deepEqual(complaints, []);
  });

  test("the keys of the dialog are its own, Esc closes it, and y copies a link to the step that is read", async () => {
    const { page, complaints } = await show("varied", variedSession(), { permissions: ["clipboard-read", "clipboard-write"] });
    await page.keyboard.press("?");
    assert.equal(await page.locator("dialog[open]").count(), 1);
    await page.keyboard.press("2");
    assert.equal(await page.getAttribute("#t-steps", "aria-selected"), "true");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    for (const key of ["j", "j", "y"]) await page.keyboard.press(key);
    assert.match(await page.evaluate("navigator.clipboard.readText()"), /#step-2$/);
    assert.deepEqual(complaints, []);
  });

  test("a link leads to its step in a run of 10,000, wherever that is", async () => {
    for (const hash of ["#step-9000", "#step-3000-call-1", "#step-10000"]) {
      const { page, complaints } = await show("linked", longTranscript(10_000), { hash });
      const step = hash.slice(1).replace(/-call.*/, "");
      const isSeen = `(() => { const box = document.getElementById("${step}")?.getBoundingClientRect(); return box !== undefined && box.top > -5 && box.top < innerHeight; })()`;
      for (let looks = 0; looks < 100 && !(await page.evaluate(isSeen)); looks++) await page.waitForTimeout(100);
      assert.equal(await page.evaluate(isSeen), true, hash);
      assert.deepEqual(complaints, []);
    }
  });

  test("each tab shows its own, by click and by key", async () => {
    const { page, complaints } = await show("varied", variedSession());
    const tabs = [
      ["2", "changes", /src\/cart\.ts/],
      ["3", "cost", /By model/],
      ["4", "permissions", /Denied/],
      ["5", "files", /npm test/],
      ["1", "steps", /Search this run|I run the tests/],
    ] as const;
    for (const [key, name, text] of tabs) {
      await page.keyboard.press(key);
      assert.equal(await page.getAttribute(`#t-${name}`, "aria-selected"), "true");
      assert.match((await page.textContent(`#p-${name}`)) ?? "", text);
      await page.screenshot({ path: join(screens, `report-${name}.png`) });
    }
    await page.click("#t-cost");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getAttribute("#t-permissions", "aria-selected"), "true");
    assert.deepEqual(complaints, []);
  });

  test("search and filters leave what fits, open what was found, and say how many", async () => {
    const { page } = await show("varied", variedSession());
    await page.keyboard.press("/");
    await page.keyboard.type("deep needle");
    assert.equal(await page.locator("[data-n]").count(), 1);
    assert.match((await page.textContent("[role=status]")) ?? "", /1 of 8 steps/);
    assert.match((await page.textContent(".steps")) ?? "", /deep needle/);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("[data-n]").count(), 8);
    await page.getByRole("button", { name: /^Errors/ }).click();
    assert.equal(await page.locator("[data-n]").count(), 2);
    await page.getByRole("search").getByRole("searchbox").fill("there is no such word");
    assert.match((await page.textContent(".empty")) ?? "", /No step matches/);
    await page.getByRole("button", { name: "Clear search and filter" }).click();
    assert.equal(await page.locator("[data-n]").count(), 8);
  });

  test("keys walk through steps and errors and open them", async () => {
    const { page } = await show("varied", variedSession());
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    assert.equal(await page.getAttribute(".is-sel", "data-n"), "2");
    await page.keyboard.press("e");
    assert.equal(await page.getAttribute(".is-sel", "data-n"), "3");
    assert.equal(await page.locator("#step-3 details[open]").count(), 1);
    await page.keyboard.press("o");
    assert.equal(await page.locator("#step-3 details[open]").count(), 0);
    await page.keyboard.press("x");
    assert.ok((await page.locator(".call[open]").count()) >= 4);
    await page.keyboard.press("?");
    assert.equal(await page.locator("dialog[open]").count(), 1);
  });

  test("a link leads to its step, whatever hides it, and into a call", async () => {
    const { page } = await show("varied", variedSession(), { hash: "#step-5-call-1" });
    assert.equal(await page.getAttribute(".is-sel", "data-n"), "5");
    assert.equal(await page.locator("#step-5-call-1[open]").count(), 1);
    await page.evaluate('location.hash = "#file-1"');
    await page.waitForSelector("#file-1");
    assert.equal(await page.getAttribute("#t-changes", "aria-selected"), "true");
  });

  for (const [name, options] of [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 390, height: 844 } }],
  ] as const)
    test(`nothing stands in the way of anybody: ${name}`, async () => {
      const { page, complaints } = await show("varied", variedSession(), options);
      for (const key of ["x", "2", "3", "4", "5", "1"]) {
        await page.keyboard.press(key);
        assert.deepEqual(await seriousFindings(page), [], `after ${key}`);
      }
      const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      assert.ok(Number(wide) <= 0, `the page is ${wide} px too wide`);
      await page.screenshot({ path: join(screens, `report-${name}-open.png`), fullPage: true });
      assert.deepEqual(complaints, []);
    });

  for (const width of [390, 768, 1280])
    test(`words without an end widen no page of ${width} px`, async () => {
      const viewport = { width, height: 844 };
      const { page, complaints } = await show(`wide-${width}`, wideSession(), { viewport });
      const widths = async (): Promise<unknown> =>
        await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      for (const key of ["x", "2", "3", "4", "5", "1"]) {
        await page.keyboard.press(key);
        assert.equal(await widths(), 0, `report after ${key}`);
      }
      await page.screenshot({ path: join(screens, `report-wide-${width}.png`), fullPage: true });
      const [first, second, many] = ["one", "other", "many"].map((name) => join(folder, `${name}-${width}`));
      for (const file of [first, second]) writeFileSync(`${file}.jsonl`, wideSession());
      const env = { PATH: process.env["PATH"], HOME: folder };
      const run = (...args: string[]) => execFileSync(process.execPath, [command, ...args], { env, stdio: "pipe" });
      run("compare", `${first}.jsonl`, `${second}.jsonl`, "-o", `${first}.html`);
      run("report", `${first}.jsonl`, `${second}.jsonl`, "-o", String(many));
      for (const file of [`${first}.html`, join(String(many), "index.html")]) {
        await page.goto(String(pathToFileURL(file)));
        await page.waitForSelector("h1");
        assert.equal(await widths(), 0, file);
      }
      assert.deepEqual(complaints, []);
    });

  test("the timeline is one stop of the tab key, and its arrows go from step to step", async () => {
    const { page } = await show("varied", variedSession());
    const stops: string[] = [];
    for (let presses = 0; presses < 14; presses++) {
      await page.keyboard.press("Tab");
      stops.push(await page.evaluate("document.activeElement.closest('.wf') ? 'timeline' : document.activeElement.tagName"));
    }
    assert.equal(stops.filter((name) => name === "timeline").length, 1, stops.join(" "));
    await page.locator(".wf-s").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getAttribute(".is-sel", "data-n"), "2");
    assert.ok((await page.locator(".wb.on").count()) > 0);
  });

  test("on paper every tab is there", async () => {
    const { page } = await show("varied", variedSession());
    await page.emulateMedia({ media: "print" });
    await page.locator("[role=tabpanel]:not([hidden])").nth(4).waitFor({ state: "attached" });
    const text = (await page.textContent("main")) ?? "";
    for (const part of [/I run the tests/, /src\/cart\.ts/, /By model/, /Denied/]) assert.match(text, part);
  });

  test("a hostile transcript runs nothing, loads nothing and breaks nothing", async () => {
    const { page, complaints } = await show("hostile", hostileTranscript());
    await page.keyboard.press("x");
    for (const key of ["2", "3", "4", "5", "1"]) await page.keyboard.press(key);
    assert.equal(await page.evaluate("window.pwned"), undefined);
    assert.deepEqual(complaints, []);
    assert.equal(await page.locator("main script, main iframe, main object, main [onerror], main [onclick]").count(), 0);
    assert.deepEqual(
      await page.evaluate(
        '[...document.querySelectorAll("a")].map((a) => a.getAttribute("href")).filter((href) => !/^(#|https?:|mailto:)/.test(href))',
      ),
      [],
    );
    assert.ok((await page.locator(".ctl").count()) > 0, "characters that turn text round are named");
    assert.match((await page.textContent("main")) ?? "", /U\+202E/);
  });

  test("10,000 steps: only what is seen is in the page, and the last one is reached", async () => {
    const { page, complaints } = await show("long", longTranscript(10_000));
    assert.ok((await page.locator("[data-n]").count()) < 150);
    await page.evaluate('location.hash = "#step-9990"');
    await page.waitForSelector("#step-9990");
    await page.keyboard.press("/");
    await page.keyboard.type("word-4321-");
    await page.locator("#step-4321").waitFor();
    assert.equal(await page.locator("[data-n]").count(), 1);
    assert.deepEqual(complaints, []);
  });

  test("many runs are a list with a page each, which sorts, groups, filters and says what it could not read", async () => {
    const [runs, output] = [join(folder, "many"), join(folder, "out")];
    mkdirSync(runs);
    writeFileSync(join(runs, "a.jsonl"), variedSession());
    writeFileSync(
      join(runs, "b.jsonl"),
      variedSession().replaceAll("0a1b2c3d", "9f8e7d6c").replace('"type":"stopped","limit":"max-turns"', '"type":"completed"'),
    );
    writeFileSync(join(runs, "c.jsonl"), longTranscript(3));
    writeFileSync(join(runs, "no.json"), "[]");
    const { stderr } = spawnSync(process.execPath, [command, "report", runs, "-o", output], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: folder },
    });
    assert.match(stderr, /no\.json is left out.*\n3 runs: written to/s);
    const page = await (await browser.newContext()).newPage();
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(String(pathToFileURL(join(output, "index.html"))));
    assert.match((await page.textContent("h1")) ?? "", /3 runs/);
    assert.match((await page.textContent(".foot")) ?? "", /1 file could not be read/);
    assert.equal(await page.locator("tr.grp").count(), 2);
    await page.getByRole("button", { name: "Steps" }).click();
    await page.getByRole("button", { name: "None" }).click();
    assert.deepEqual(await page.locator("tbody tr td:nth-child(5)").allTextContents(), ["8", "8", "3"]);
    await page.getByRole("button", { name: "Stopped" }).click();
    assert.equal(await page.locator("tbody tr").count(), 1);
    assert.deepEqual(await seriousFindings(page), []);
    await page.screenshot({ path: join(screens, "index.png") });
    await page.locator("td.oc a").click();
    await page.waitForSelector(".strip");
    assert.deepEqual(complaints, []);
  });

  test("two runs stand side by side, and it is said where they part", async () => {
    const [a, b, output] = [join(folder, "a.jsonl"), join(folder, "b.jsonl"), join(folder, "compare.html")];
    writeFileSync(a, variedSession());
    writeFileSync(
      b,
      variedSession()
        .replaceAll("npm install decimal.js", "npm ci")
        .replace('"type":"stopped","limit":"max-turns"', '"type":"completed"'),
    );
    execFileSync(process.execPath, [command, "compare", a, b, "-o", output], {
      env: { PATH: process.env["PATH"], HOME: folder },
      stdio: "pipe",
    });
    for (const options of [{}, { colorScheme: "dark" }, { viewport: { width: 390, height: 844 } }] as const) {
      const page = await (await browser.newContext(options)).newPage();
      const complaints: string[] = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      await page.goto(String(pathToFileURL(output)));
      assert.equal(await page.textContent("h1"), "B completed, A stopped");
      assert.match((await page.textContent(".chd p")) ?? "", /They part after 6 calls/);
      await page.getByRole("button", { name: "Differences" }).click();
      assert.match((await page.textContent(".al")) ?? "", /npm install decimal\.js.*npm ci/s);
      assert.equal(await page.locator(".al .two").count(), 1);
      assert.deepEqual(await seriousFindings(page), []);
      assert.deepEqual(complaints, []);
      await page.screenshot({ path: join(screens, `compare-${Object.keys(options)[0] ?? "light"}.png`), fullPage: true });
    }
  });

  test("the page is small, and what may run in it is that one script", async () => {
    await show("varied", variedSession());
    const html = readFileSync(join(folder, "varied.html"), "utf8");
    const data = Buffer.byteLength(/<script type="application\/json" id="run">([^<]*)/.exec(html)?.[1] ?? "");
    assert.ok(Buffer.byteLength(html) - data < 300_000);
    assert.match(html, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/);
    assert.doesNotMatch(html, /unsafe-inline|unsafe-eval/);
  });
});

test("report says what it takes, what it cannot find, and what is no run", () => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-report-"));
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [command, "report", ...args], {
      encoding: "utf8",
      cwd: folder,
      env: { PATH: dirname(process.execPath), HOME: folder },
    });
  try {
    writeFileSync(join(folder, "notes.txt"), "hello");
    writeFileSync(join(folder, "run.jsonl"), variedSession());
    const cases = [
      { args: [], code: 64, says: /report takes sessions or files/ },
      { args: ["--forse"], code: 64, says: /did you mean --force/ },
      { args: ["nosuch"], code: 66, says: /nosuch/ },
      { args: ["notes.txt"], code: 78, says: /tells of no run/ },
      { args: ["run.jsonl", "-o", "out.html"], code: 0, says: /Written to out.html/ },
      { args: ["run.jsonl", "-o", "out.html"], code: 64, says: /exists already/ },
      { args: ["run.jsonl", "-o", "out.html", "--force"], code: 0, says: /Written/ },
      { args: ["run.jsonl", "-o", "no/such/place.html"], code: 78, says: /Cannot write/ },
      { args: ["--help"], code: 0, says: /outrider report SESSION\|FILE/ },
    ];
    for (const { args, code, says } of cases) {
      const { status, stdout, stderr } = run(...args);
      assert.equal(status, code, `${args.join(" ")}: ${stderr}`);
      assert.match(stdout + stderr, says);
    }
    assert.match(run("run.jsonl", "-o", "-").stdout, /^<!doctype html>/);
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const frames = [
      { type: "system", subtype: "init", session_id: secret },
      {
        type: "assistant",
        message: { id: "m", content: [{ type: "tool_use", id: secret, name: `mcp__${secret}`, input: { command: secret } }] },
      },
      { type: "result", subtype: "success", result: secret },
    ];
    writeFileSync(join(folder, "secret.jsonl"), frames.map((frame) => JSON.stringify(frame)).join("\n"));
    assert.doesNotMatch(run("secret.jsonl", "-o", "-").stdout, new RegExp(secret));
    symlinkSync("nowhere", join(folder, "gone.json"));
    assert.match(run(".", "-o", "many").stderr, /gone\.json is left out/);
    assert.deepEqual(
      readdirSync(join(folder, "many/runs")).filter((name) => name.includes("ghp_")),
      [],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
