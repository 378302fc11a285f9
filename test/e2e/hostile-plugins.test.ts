import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { tgzOf, zipOf } from "../support/make-archive.ts";
import { projectRoot, run, tempFolder } from "./command.ts";

type Bundle = {
  readonly about: string;
  readonly manifest?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly pipe?: string;
  readonly many?: number;
  readonly sparse?: number;
  readonly refused?: string;
};
type Table = {
  readonly bundles: readonly Bundle[];
  readonly sources: readonly { readonly source: string; readonly refused: string }[];
  readonly entries: readonly {
    readonly about: string;
    readonly source: unknown;
    readonly link?: true;
    readonly refused: string;
  }[];
  readonly archives: readonly {
    readonly about: string;
    readonly entry: string;
    readonly type?: string;
    readonly mode?: number;
    readonly refused?: string;
  }[];
};

const table = JSON.parse(readFileSync(join(projectRoot, "test/fixtures/hostile-plugins.json"), "utf8")) as Table;

function place() {
  const top = realpathSync(tempFolder("hostile"));
  const cwd = join(top, "work");
  mkdirSync(cwd);
  writeFileSync(join(top, "outside"), "secret");
  const env = { HOME: join(top, "home"), OUTRIDER_HOME: join(top, "home/.outrider") };
  const outrider = (...args: string[]) => run(args, { cwd, env });
  return { top, cwd, env, outrider };
}

function write(root: string, name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

/** Everything below, but for the command's own compiled code. */
function treeOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(?:^|\/)\.outrider(?:\/cache.*)?$/.test(name))
    .sort();
}

function make(root: string, { manifest, files = {}, links = {}, pipe, many = 0, sparse }: Bundle): void {
  if (manifest) write(root, ".claude-plugin/plugin.json", JSON.stringify(manifest));
  for (const [name, text] of Object.entries(files)) write(root, name, text);
  for (const [name, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    symlinkSync(target, join(root, name));
  }
  if (pipe !== undefined) {
    mkdirSync(dirname(join(root, pipe)), { recursive: true });
    execFileSync("mkfifo", [join(root, pipe)]);
  }
  for (let count = 0; count < many; count++) write(root, `many/${count % 50}/${count}`, "");
  if (sparse !== undefined) {
    write(root, "huge", "");
    truncateSync(join(root, "huge"), sparse);
  }
}

describe("hostile bundles", () => {
  for (const bundle of table.bundles)
    it(bundle.about, async () => {
      const { top, cwd, outrider } = place();
      make(join(top, "bundle"), bundle);
      const { code, stderr, stdout } = await outrider("plugins", "install", join(top, "bundle"), "--yes");
      assert.equal(existsSync(join(cwd, "pwned")), false);
      if (bundle.refused === undefined) return assert.equal(code, 0, stderr);
      assert.notEqual(code, 0, stdout);
      assert.ok(stderr.includes(bundle.refused), stderr);
      assert.doesNotMatch(stderr, new RegExp(String.fromCharCode(27)));
      assert.deepEqual(treeOf(join(top, "home")), []);
    });
});

describe("hostile sources", () => {
  for (const { source, refused } of table.sources)
    it(source, async () => {
      const { top, cwd, outrider } = place();
      const { code, stderr } = await outrider("plugins", "install", source, "--yes");
      assert.notEqual(code, 0);
      assert.ok(stderr.includes(refused), stderr);
      assert.deepEqual([treeOf(join(top, "home")), readdirSync(cwd)], [[], []]);
    });
});

describe("hostile entries of a marketplace", () => {
  for (const { about, source, link, refused } of table.entries)
    it(about, async () => {
      const { top, cwd, outrider } = place();
      const list = { name: "m", owner: { name: "o" }, plugins: [{ name: "p", source }] };
      write(join(top, "market"), ".claude-plugin/marketplace.json", JSON.stringify(list));
      if (link) symlinkSync("/etc", join(top, "market/out"));
      assert.equal((await outrider("plugins", "marketplace", "add", join(top, "market"))).code, 0);
      const { code, stderr } = await outrider("plugins", "install", "p@m", "--yes");
      assert.notEqual(code, 0);
      assert.ok(stderr.includes(refused), stderr);
      assert.deepEqual(
        treeOf(join(top, "home")).filter((name) => /cache|staging/.test(name)),
        [],
      );
      assert.equal(existsSync(join(cwd, "pwned")), false);
    });
});

describe("hostile archives", () => {
  for (const { about, entry, refused, ...more } of table.archives)
    for (const [kind, pack] of [
      ["zip", zipOf],
      ["tgz", tgzOf],
    ] as const)
      it(`${about}, in a ${kind}`, async () => {
        const { top, outrider } = place();
        const manifest = { name: ".claude-plugin/plugin.json", text: '{"name":"p"}' };
        writeFileSync(join(top, `a.${kind}`), pack([manifest, { name: entry, text: "x", ...more }]));
        const before = treeOf(top);
        const { code, stderr } = await outrider("plugins", "install", join(top, `a.${kind}`), "--yes");
        if (refused === undefined) {
          assert.equal(code, 0, stderr);
          const modes = execFileSync("find", [join(top, "home"), "-perm", "/7000"], { encoding: "utf8" });
          return assert.equal(modes, "");
        }
        assert.notEqual(code, 0);
        assert.ok(stderr.includes(refused), stderr);
        assert.deepEqual(
          treeOf(top).filter((name) => name !== "home"),
          before,
        );
      });

  it("one that is cut off, damaged or no archive writes nothing", async () => {
    const whole = zipOf([{ name: ".claude-plugin/plugin.json", text: '{"name":"p"}' }]);
    const damaged = Buffer.from(whole);
    damaged[60] = (damaged[60] ?? 0) ^ 255;
    for (const bytes of [whole.subarray(0, 40), damaged, Buffer.from("no archive at all, only some words of a file")]) {
      const { top, outrider } = place();
      writeFileSync(join(top, "a.zip"), bytes);
      const { code, stderr } = await outrider("plugins", "install", join(top, "a.zip"), "--yes");
      assert.notEqual(code, 0);
      assert.match(stderr, /The archive is refused/);
      assert.deepEqual(treeOf(join(top, "home")), []);
    }
  });
});

describe("what is fetched", () => {
  it("is not followed into networks that are not public, and not read without end", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/moved.zip") response.writeHead(302, { location: "http://169.254.169.254/x.zip" }).end();
      else response.writeHead(200).end(Buffer.alloc(6 * 1024 * 1024, 32));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const { top, outrider } = place();
      const moved = await outrider("plugins", "install", `${url}/moved.zip`, "--yes");
      assert.match(moved.stderr, /is refused: only https|169\.254\.169\.254/);
      const long = await outrider("plugins", "marketplace", "add", `${url}/marketplace.json`);
      assert.match(long.stderr, /cannot be fetched/);
      assert.deepEqual(treeOf(join(top, "home")), []);
    } finally {
      server.close();
    }
  });
});
