import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { isAscii } from "node:buffer";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";

const execute = promisify(execFile);
const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const cli = join(root, "packages/cli");
const temp = mkdtempSync(join(tmpdir(), "outrider-startup-"));
after(() => rmSync(temp, { recursive: true, force: true }));

/** Node's public modules a run may load up to its end, beside those Node itself starts with. Each one costs start-up time. */
const allowedBuiltins = ["http", "module", "net", "os", "stream", "timers/promises", "tty", "vm", "zlib"];

/** The source folders and packages the start-up path is made of. What a tool needs beyond its declaration is loaded when it runs. */
const allowedPackages = ["eventsource-parser"];

/** Bytes of what every run reads: a hundred thousand more take some 2 ms, and each further file of ours 0.3 to 1 ms. */
const longestMain = 461_500;

/** What only some runs need, and is loaded then: by name, or by folder. */
const laterSources = [
  "/atif/",
  "/box/",
  "/hooks/",
  "/live/",
  "/mcp/",
  "/node_modules/unbash/",
  "aliases.ts",
  "capabilities/gpt.ts",
  "capabilities/open.ts",
  "capabilities/retirement.ts",
  "bedrock-connection.ts",
  "catalog-data.ts",
  "checkpoints/checkpoints.ts",
  "claude-format.ts",
  "client-workspace.ts",
  "collect-garbage.ts",
  "commands/checkpoints/checkpoints.ts",
  "commands/live.ts",
  "commands/permissions/permissions.ts",
  "commands/sessions/sessions.ts",
  "commands/trust.ts",
  "compactor.ts",
  "decide-command.ts",
  "detect-sandbox.ts",
  "find-session.ts",
  "judge-case.ts",
  "lint-rule.ts",
  "list-catalog.ts",
  "find-refused.ts",
  "maintain-store.ts",
  "mend-content.ts",
  "mend-request.ts",
  "mend.ts",
  "model-limits.ts",
  "open-hooks.ts",
  "recover.ts",
  "replay.ts",
  "run-compaction.ts",
  "run-edit.ts",
  "run-glob.ts",
  "run-subagent.ts",
  "run-web-fetch.ts",
  "run-write.ts",
  "sandbox.ts",
  "scripted.ts",
  "session-index.ts",
  "side-files.ts",
  "start-ci.ts",
  "trust.ts",
  "openai-chat.ts",
  "openai-responses.ts",
  "gemini.ts",
  "html-text.ts",
  "http-get.ts",
  "input-problems.ts",
  "search-built-in.ts",
  "tools/ripgrep.ts",
  "demo.ts",
  "help.ts",
  "progress.ts",
  "recording.ts",
  "engine/refused-parts.ts",
  "providers.ts",
  "/memory/",
  "/plugins/",
  "prompt-references.ts",
  "commands/skills/find-skills.ts",
  "commands/skills/parse-skill.ts",
  "find-plugins.ts",
  "find-servers.ts",
  "load-skills.ts",
  "output-styles.ts",
  "run-builtin.ts",
  "skills/offer-skills.ts",
  "skills/use-skill.ts",
  "task-context.ts",
];

describe("the way to the first request", () => {
  it("loads only listed modules of Node's", async () => {
    const server = await startModelServer({ replies: [{ text: "ok" }, { text: "ok" }, { text: "ok" }] });
    after(() => server.close());
    const report = `process.on("exit", () => process.stderr.write("MODULES " + JSON.stringify(process.moduleLoadList)));`;
    writeFileSync(join(temp, "bare.cjs"), report);
    writeFileSync(
      join(temp, "probe.cjs"),
      `${report} process.argv.splice(2, 99, "-p", "hi"); require(${JSON.stringify(join(cli, "bin/outrider.js"))});`,
    );
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: server.url, OUTRIDER_HOME: temp };
    const bare = await modulesOf("bare.cjs", env);
    await modulesOf("probe.cjs", env); // the first run of all tries the sandbox out, and remembers that it works
    const unlisted = async (cwd?: string): Promise<string[]> => {
      const loaded = await modulesOf("probe.cjs", env, cwd);
      return loaded.filter((name) => !bare.includes(name) && !allowedBuiltins.includes(name));
    };
    assert.deepEqual(await unlisted(), []);
    mkdirSync(join(temp, "repository", ".git"), { recursive: true });
    const inside = await unlisted(join(temp, "repository"));
    assert.deepEqual(inside, ["child_process", "dgram"], "git says what is changed in a repository");
    assert.equal(server.requests.length, 3);
  });

  it("keeps its compiled code with its first request, before a long run makes V8 forget it", async () => {
    const home = join(temp, "compiled");
    const look = { name: "Bash", input: { command: `ls ${join(home, "cache")}` } };
    const { run, requests } = await startRuns(home, [{ calls: [look] }, { text: "ok" }]);
    await run("-p", "hi", "--allowedTools", "Bash", "--sandbox", "off");
    assert.match(JSON.stringify(requests[1]?.body), /code-v\d+\.[^ ]*\d-asked\.bin/);
  });

  it("keeps as much as a run comes to, until one has got its answer", async () => {
    const home = join(temp, "extents");
    const { run } = await startRuns(home, [{ status: 400, body: "{}" }, { text: "ok" }, { text: "ok" }]);
    const kept = (): { name: string; size: number }[] =>
      readdirSync(join(home, "cache"))
        .filter((name) => name.startsWith("code-"))
        .map((name) => ({
          name: name.replace(/^code-.*-\d+(?=[-.])/, "code"),
          size: statSync(join(home, "cache", name)).size,
        }));
    const sizeOf = (name: string): number => {
      const [only, ...others] = kept();
      assert.deepEqual([only?.name, others], [name, []]);
      return only?.size ?? 0;
    };
    await run("--version");
    const short = sizeOf("code-short.bin");
    await assert.rejects(run("-p", "hi"));
    const asked = sizeOf("code-asked.bin");
    assert.ok(asked > short * 1.2, `${asked} bytes, and ${short} before`);
    await run("-p", "hi");
    const whole = sizeOf("code.bin");
    assert.ok(whole > asked * 1.05, `${whole} bytes, and ${asked} before`);
    await run("--version");
    assert.equal(sizeOf("code.bin"), whole, "and it stays");
  });

  it("reads no other file of ours for a plain answer", async () => {
    const home = join(temp, "plain");
    const { run } = await startRuns(home, [{ text: "ok" }], temp); // of a repository git says what is changed
    await run("-p", "hi", "--sandbox", "off");
    assert.deepEqual(
      readdirSync(join(home, "cache")).filter((name) => !name.startsWith("code-")),
      [],
    );
  });

  it("keeps the code of the files that a tool needs, of several runs together, and does without it when it is cut off", async () => {
    const home = join(temp, "parts");
    const call = (command: string): ServerReply => ({ calls: [{ name: "Bash", input: { command } }] });
    const done = { text: "ok" };
    const { run } = await startRuns(home, [call("ls"), done, call("ls"), done, call("ls"), done]);
    const kept = (): { file: string; stores: number; names: string[] } => {
      const [name = "", ...others] = readdirSync(join(home, "cache")).filter((one) => one.startsWith("parts-"));
      assert.deepEqual(others, []);
      const file = join(home, "cache", name);
      const text = readFileSync(file, "latin1");
      const { stores, sizes } = JSON.parse(text.slice(0, text.indexOf("\n"))) as { stores: number; sizes: [string, number][] };
      return { file, stores, names: sizes.map(([part]) => part) };
    };
    const words = ["-p", "hi", "--allowedTools", "Bash", "--sandbox", "off"];
    await run(...words);
    const first = kept();
    assert.ok(first.names.some((name) => name.startsWith("c-decide-command-")));
    await run(...words);
    assert.deepEqual(kept(), { ...first, stores: first.stores + 1 });
    truncateSync(first.file, 4_096);
    await run(...words);
    assert.deepEqual(kept().names, first.names);
    assert.ok(statSync(first.file).size > 4_096);
  });

  it("imports packages that are ES modules also when its code was kept", async () => {
    const [home, reply, tasks] = ["importing", "importing.json", "importing.jsonl"].map((name) => join(temp, name)) as [
      string,
      string,
      string,
    ];
    const { run } = await startRuns(home, []);
    writeFileSync(reply, '[{"text":"ok"}]');
    writeFileSync(tasks, '{"id":"a","prompt":"hi"}');
    for (const out of ["first", "second", "third"]) {
      const words = ["batch", tasks, "--provider", "scripted", "--model", reply, "--out", join(temp, out)];
      assert.match(await run(...words), /1 of 1 done: 1 passed/);
    }
  });

  it("takes no code of another version for its own, though npm gives all files one day and V8 compares lengths alone", () => {
    const env = { PATH: process.env["PATH"], OUTRIDER_HOME: join(temp, "versions-home") };
    const versionOf = (place: string): string | undefined => {
      const text = execFileSync(process.execPath, [join(place, "bin/outrider.js"), "--help"], { env, encoding: "utf8" });
      return /\d+\.\d+\.\d+/.exec(text)?.[0];
    };
    const [before, after] = ["before", "after"].map((name) => {
      const place = join(temp, "versions", name);
      for (const part of ["bin", "dist", "package.json"]) cpSync(join(cli, part), join(place, part), { recursive: true });
      return place;
    }) as [string, string];
    const text = readFileSync(join(cli, "dist/main.cjs"), "utf8");
    const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
    const [, number = ""] = /^\/\*(\d{15})\*\//.exec(text) ?? [];
    assert.notEqual(number, "", "main.cjs begins with the number of its build");
    const next = version.replace(/\d$/, (digit: string) => String((Number(digit) + 1) % 10));
    const bumped = text
      .replace(
        number,
        number.replace(/.$/, (digit) => String((Number(digit) + 1) % 10)),
      )
      .replaceAll(`"${version}"`, `"${next}"`);
    assert.equal(bumped.length, text.length);
    writeFileSync(join(after, "dist/main.cjs"), bumped);
    for (const place of [before, after]) utimesSync(join(place, "dist/main.cjs"), 499_162_500, 499_162_500);
    assert.deepEqual([versionOf(before), versionOf(before), versionOf(after)], [version, version, next]);
  });

  it("leaves the code of a few other programs alone, the newest", async () => {
    const home = join(temp, "others");
    const { run } = await startRuns(home, [{ text: "ok" }]);
    mkdirSync(join(home, "cache"), { recursive: true });
    for (const age of [1, 2, 3, 4, 5]) {
      const file = join(home, `cache/code-v20.0.0-x64-${age}-${age}.bin`);
      writeFileSync(file, "");
      utimesSync(file, 1_000_000 - age, 1_000_000 - age);
    }
    await run("-p", "hi");
    const ages = readdirSync(join(home, "cache")).flatMap((name) => /^code-v20\.0\.0-x64-(\d)-/.exec(name)?.[1] ?? []);
    assert.deepEqual(ages.sort(), ["1", "2", "3"]);
  });

  it("is one file of listed packages, and what runs need later is not in it", () => {
    const meta = JSON.parse(readFileSync(join(cli, "dist/meta.json"), "utf8")) as Metafile;
    const names = Object.keys(meta.outputs);
    const core = new Set(meta.core);
    assert.equal([...core].filter((name) => /\/(main|c-run-\w+|c-anthropic-messages-\w+)\.js$/.test(name)).length, 3);
    const written = readdirSync(join(cli, "dist")).filter((name) => name.endsWith(".cjs") && name !== "main.cjs");
    const separate = names.filter((name) => !core.has(name)).map((name) => basename(name).replace(/js$/, "cjs"));
    assert.deepEqual(
      written.filter((name) => !separate.includes(name)),
      [],
    );
    assert.ok(statSync(join(cli, "dist/main.cjs")).size < longestMain, "main.cjs has grown: what of it does not every run need?");
    // One other character, and V8 keeps the whole of it in two bytes per character. In a regular expression write \\u2192, not the arrow.
    const main = readFileSync(join(cli, "dist/main.cjs"));
    assert.ok(isAscii(main), "main.cjs holds a character that is not ASCII");
    for (const name of ["main.cjs", ...written])
      assert.ok(
        !readFileSync(join(cli, "dist", name), "utf8").includes("import("),
        `${name} imports an ES module, which Node 20 cannot do in code that was kept`,
      );

    const sources = [...core].flatMap((file) => Object.keys(meta.outputs[file]?.inputs ?? {}));
    const packages = new Set(sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []));
    assert.deepEqual([...packages].sort(), allowedPackages);
    const isNamed = (source: string, name: string): boolean =>
      name.endsWith("/") ? `/${source}`.includes(name) : source.endsWith(`/${name}`);
    const later = sources.filter((source) => laterSources.some((name) => isNamed(source, name)));
    assert.deepEqual(later, []);
    // A name that is nowhere would look after nothing.
    const everything = Object.values(meta.outputs).flatMap(({ inputs }) => Object.keys(inputs));
    assert.deepEqual(
      laterSources.filter((name) => !everything.some((source) => isNamed(source, name))),
      [],
    );
  });
});

type Metafile = {
  core: string[];
  outputs: Record<string, { inputs: Record<string, unknown> }>;
};

/** Runs the command with a home of its own and a model that gives these answers. */
async function startRuns(
  home: string,
  replies: ServerReply[],
  cwd: string = process.cwd(),
): Promise<{ run(...words: string[]): Promise<string>; requests: readonly { body: unknown }[] }> {
  const server = await startModelServer({ replies });
  after(() => server.close());
  const env = {
    PATH: process.env["PATH"] ?? "",
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: server.url,
    OUTRIDER_HOME: home,
  };
  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await execute(process.execPath, [join(cli, "bin/outrider.js"), ...words], { env, cwd });
    return `${stdout}${stderr}`;
  };
  return { run, requests: server.requests };
}

/** The public modules of Node's that a script has loaded when it ends. */
async function modulesOf(script: string, env: Record<string, string>, cwd: string = temp): Promise<string[]> {
  const child = spawn(process.execPath, [join(temp, script)], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  for await (const chunk of child.stderr) text += chunk;
  const names: string[] = JSON.parse(text.slice(text.indexOf("MODULES ") + "MODULES ".length));
  return names.flatMap((name) => /^NativeModule ((?!internal\/(?!deps\/undici)|_).*)$/.exec(name)?.[1] ?? []).sort();
}
