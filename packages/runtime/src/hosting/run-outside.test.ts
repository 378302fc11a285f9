import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, describe, it } from "node:test";
import { protectScripts, scriptsRunBy } from "./run-outside.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "outrider-run-outside-")));
after(() => rmSync(root, { recursive: true, force: true }));

const files: Readonly<Record<string, string>> = {
  "tools/h.sh": 'cd "$(dirname "$0")/.."\n. tools/lib.sh\n',
  "tools/lib.sh": "exec ./tools/last\n",
  "tools/last": "echo ok\n",
  "tools/s.mjs": 'import { x } from "./part.mjs";\n',
  "tools/part.mjs": "export const x = 1;\n",
  "tools/h.py": "import helper\n",
  "tools/helper.py": "\n",
  "tools/own.sh": `source "\${BASH_SOURCE%/*}/lib.sh"\n`,
  "src/index.ts": "\n",
  "package.json": "{}\n",
  "with space/h.sh": "\n",
};
for (const [name, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

const run = (line: string, env: Record<string, string> = {}): string[] =>
  scriptsRunBy([{ line, env }], root)
    .map((path) => relative(root, path))
    .sort();

describe("the scripts that a line runs", () => {
  const cases: readonly (readonly [line: string, ...scripts: string[]])[] = [
    ["./tools/last", "tools/last"],
    ["./tools/last >&2 || exit 2", "tools/last"],
    ["FOO=1 timeout 5 ./tools/last", "tools/last"],
    ["if ./tools/last; then echo y; fi", "tools/last"],
    ["cd tools && ./last", "tools/last"],
    ["bash -e tools/lib.sh", "tools/last", "tools/lib.sh"],
    ['"$CLAUDE_PROJECT_DIR"/tools/last --fast', "tools/last"],
    [`\${PLUGIN}/last`, "tools/last"],
    [". tools/lib.sh", "tools/last", "tools/lib.sh"],
    ["./tools/h.sh", "tools/h.sh", "tools/last", "tools/lib.sh"],
    ["tools/own.sh", "tools/last", "tools/lib.sh", "tools/own.sh"],
    ["node tools/s.mjs src/index.ts", "tools/part.mjs", "tools/s.mjs"],
    ["node --import ./tools/part.mjs -e 1", "tools/part.mjs"],
    ["python3 -m tools.h", "tools/h.py", "tools/helper.py"],
    ["uv run tools/h.py", "tools/h.py", "tools/helper.py"],
    ["'./with space/h.sh'"],
    ["npx eslint src/index.ts"],
    ["cat package.json | jq .name"],
    ["npm test"],
    ["/bin/true"],
    ["../../outside.sh"],
  ];
  for (const [line, ...scripts] of cases)
    it(`${line}: ${scripts.join(", ") || "none"}`, () => assert.deepEqual(run(line, { PLUGIN: join(root, "tools") }), scripts));
});

describe("scripts of the project that hooks, servers and helpers run", () => {
  type Options = Parameters<typeof protectScripts>[0];
  const named = (options: object, servers: object = {}, helper?: string): string[] => {
    const configs = new Map(Object.entries(servers)) as Parameters<typeof protectScripts>[1];
    const { permissions } = protectScripts<Options>({ cwd: root, ...options }, configs, helper);
    return (permissions?.runOutside ?? []).map((path) => relative(root, path));
  };
  const hook = (command: string): object => ({ Stop: [{ hooks: [{ type: "command", command }] }] });

  it("are found in the hooks of settings that count, and in those of the program", () => {
    const sources = [
      { value: hook("tools/last"), source: "one", trusted: true },
      { value: hook("tools/part.mjs"), source: "two", trusted: false },
    ];
    assert.deepEqual(named({ hookSettings: { sources } }), ["tools/last"]);
    assert.deepEqual(named({ hooks: hook("tools/last") }), ["tools/last"]);
  });

  it("are found in agents, servers and helpers", () => {
    const agent = { name: "w", mcpServers: { s: { command: "node", args: ["tools/part.mjs"] } }, hooks: hook("./tools/last") };
    assert.deepEqual(named({ agents: [agent] }), ["tools/last", "tools/part.mjs"]);
    assert.deepEqual(named({}, { s: { type: "stdio", command: "tools/last", args: [], env: {} } }), ["tools/last"]);
    assert.deepEqual(named({}, { h: { type: "http", url: "http://x", headers: {}, headersHelper: "sh tools/lib.sh" } }), [
      "tools/lib.sh",
      "tools/last",
    ]);
    assert.deepEqual(named({}, {}, "./tools/last"), ["tools/last"]);
  });

  it("leave the options as they are where there are none", () => {
    const options = { cwd: root, hooks: { Stop: [{ hooks: [() => ({})] }] } };
    assert.equal(protectScripts(options, new Map(), undefined), options);
  });
});
