import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import { createSandboxedWorkspace } from "../packages/runtime/src/workspace/sandbox.ts";
import { contents, openBox, path, runIn, untilGone, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const victim = process.env["OUTRIDER_SANDBOX_VICTIM"];

if (victim !== undefined) {
  // This file again, as the agent that is killed while its command runs.
  const workspace = await openBox({ ...JSON.parse(victim) });
  await runIn(workspace, "echo started > started; sleep 987654.25");
  process.exit(0);
}

const skip = await whyNoSandbox();

describe("the sandbox", { skip }, () => {
  const stage = setUpBoxes();
  const { open, sh } = stage;

  describe("attempts that must not work", () => {
    // Each prints ESCAPED when it gets through; $OUT, $HOME and $AGENT are the places and the process outside.
    const attempts: readonly (readonly [name: string, script: string])[] = [
      ["writing to the system", "echo x >> /etc/passwd && echo ESCAPED"],
      ["writing to another directory of the user", "echo x > $OUT/file.txt && echo ESCAPED"],
      ["making a file in another directory", "touch $OUT/new && echo ESCAPED"],
      ["deleting in another directory", "rm -f $OUT/file.txt && [ ! -e $OUT/file.txt ] && echo ESCAPED"],
      ["writing through a symbolic link", "ln -s $OUT/file.txt link; echo x > link && echo ESCAPED; rm link"],
      ["writing through a link to a directory", "ln -s $OUT link; echo x > link/new && echo ESCAPED; rm link"],
      ["writing through a hard link", "ln $OUT/file.txt hard && echo x > hard && echo ESCAPED"],
      ["writing through /proc/1/root", "echo x > /proc/1/root$OUT/file.txt && echo ESCAPED"],
      ["writing through /proc/self/cwd", "echo x > /proc/self/cwd/../outside/file.txt && echo ESCAPED"],
      ["reading a key through /proc/1/root", "cat /proc/1/root$HOME/.ssh/id_ed25519 && echo ESCAPED"],
      ["reading keys in the home", "cat ~/.ssh/id_ed25519 ~/.config/gh/hosts.yml && echo ESCAPED"],
      ["reading the passwords of the system", "cat /etc/shadow && echo ESCAPED"],
      ["listing homes", '[ -n "$(ls -A /home)" ] && echo ESCAPED'],
      ["mounting", "mount -o remount,rw / && echo ESCAPED; mount --bind $OUT . && echo ESCAPED"],
      ["unmounting what protects", "umount .git/config && echo ESCAPED; umount .claude && echo ESCAPED"],
      ["becoming root of an own namespace", "unshare -Urm true && echo ESCAPED"],
      ["changing the root directory", "chroot . /bin/true && echo ESCAPED"],
      ["seeing the agent", "[ -d /proc/$AGENT ] && echo ESCAPED"],
      ["killing the agent", "kill -9 $AGENT && echo ESCAPED"],
      ["killing whatever can be killed", "(trap '' TERM; kill -9 -1); true"],
      ["tracing the agent", "strace -p $AGENT -o /dev/null && echo ESCAPED"],
      ["device nodes", "mknod disk b 8 0 && echo ESCAPED; ls /dev/mem /dev/kmsg /dev/sda /dev/vda && echo ESCAPED"],
      ["switches of the kernel", '[ -n "$(find /proc/sys /proc/sysrq-trigger /proc/irq /proc/bus -writable)" ] && echo ESCAPED'],
      ["control groups", '[ -n "$(find /sys/fs/cgroup -maxdepth 2 -writable)" ] && echo ESCAPED'],
      ["capabilities", "grep -E 'Cap(Prm|Eff|Bnd|Amb):' /proc/self/status | grep -qv 0000000000000000 && echo ESCAPED"],
      ["set-uid programs", "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo ESCAPED"],
      [
        "a file that others start with its owner's rights",
        "cp /bin/true s; chmod 4755 s; chmod u+s s; chmod g+s s; install -m 6755 /bin/true i; mkdir d; cp /bin/true d/t; tar cf t.tar --mode=6755 d/t; tar xpf t.tar; " +
          '[ -n "$(find . -type f -perm /6000)" ] && echo ESCAPED; rm -rf s i d t.tar',
      ],
      ["open files of the agent", "ls /proc/self/fd | grep -qvxE '[0123]' && echo ESCAPED"],
      ["a terminal to type into", '[ "$(cut -d" " -f7 /proc/self/stat)" = 0 ] || echo ESCAPED; (: < /dev/tty) && echo ESCAPED'],
      ["name resolution", "getent hosts example.com && echo ESCAPED"],
      ["a network interface", "grep -q : <(tail -n +3 /proc/net/dev | grep -v ' lo:') && echo ESCAPED"],
      ["sockets of services", '[ -n "$(ls -A /run)" ] && echo ESCAPED; [ -S /var/run/docker.sock ] && echo ESCAPED'],
      ["variables that lead to agents for keys", '[ -n "$SSH_AUTH_SOCK" ] && echo ESCAPED'],
      ["changing the repository's configuration", "echo denied > .git/config && echo ESCAPED"],
      ["configuring hooks", "git config core.hooksPath evil && echo ESCAPED"],
      ["writing a hook", "echo evil > .git/hooks/pre-commit && echo ESCAPED"],
      ["moving the repository away", "mv .git .git2 && echo ESCAPED; mkdir .git; echo x > .git/config && echo ESCAPED"],
      ["deleting the repository's configuration", "rm -rf .git/config .git/hooks; [ -e .git/config ] || echo ESCAPED"],
      ["opening up by chmod", "chmod 777 .git/config && echo ESCAPED; chown 1:1 .git/config && echo ESCAPED"],
      ["a hard link to protected files", "ln .git/config other && echo x > other && echo ESCAPED"],
      ["changing settings", "echo '{}' > .claude/settings.json && echo ESCAPED"],
      ["adding settings", "echo '{}' > .claude/settings.local.json && echo ESCAPED"],
      ["moving settings away", "mv .claude .old && echo ESCAPED; rm -rf .claude; [ -e .claude/settings.json ] || echo ESCAPED"],
      ["renaming the project", "cd ..; mv project other && echo ESCAPED"],
      ["a working directory outside", "cd / && touch /x && echo ESCAPED"],
    ];
    for (const [name, script] of attempts) {
      it(name, async () => {
        const before = contents(stage.place.base);
        const places = `OUT=${stage.place.outside} AGENT=${process.pid}`;
        const { output } = await sh(`${places}\n${script}`);
        assert.doesNotMatch(output, /ESCAPED|SECRET/);
        await stage.workspace.close();
        assert.deepEqual(contents(stage.place.base), { ...before, overflow: "", "overflow/sandbox": "" });
      });
    }
  });

  it("does not make the directory a command starts in writable", async () => {
    const { result } = await sh("touch new", { cwd: stage.place.outside });
    assert.deepEqual(
      { result, there: existsSync(join(stage.place.outside, "new")) },
      { result: { end: "exit", exitCode: 1 }, there: false },
    );
  });

  it("refuses to make the whole machine writable", async () => {
    await assert.rejects(open({ allowWrite: ["/"] }), { code: "config" });
  });

  it("hides what is denied, in the project too", async () => {
    writeFileSync(join(stage.place.project, ".env"), "SECRET\n");
    const box = await open({ denyRead: [".env", stage.place.outside] });
    const { output } = await runIn(box, `cat .env; ls -A ${stage.place.outside}; cat ${stage.place.outside}/file.txt`);
    assert.doesNotMatch(output, /SECRET|untouched/);
  });

  it("keeps what must not be changed, whoever tries", async () => {
    const { project } = stage.place;
    mkdirSync(join(project, "kept"));
    for (const file of ["kept/a", "kept.txt"]) writeFileSync(join(project, file), "same\n");
    const box = await open({ denyWrite: ["kept", "kept.txt"] });
    const script = [
      "mkdir -p kept; echo 1 > kept.txt; echo x > kept/a; rm -rf kept; mv kept gone; mv kept.txt gone.txt; rm kept.txt",
      "ln kept/a hard && echo x > hard; ln -s kept soft && echo x > soft/a; sed -i s/same/x/ kept/a; echo x > new; mv new kept.txt",
      'python3 -c \'open("kept/a", "w").write("x")\'; touch other',
    ];
    await runIn(box, script.join("\n"));
    assert.deepEqual(
      [
        readFileSync(join(project, "kept/a"), "utf8"),
        readFileSync(join(project, "kept.txt"), "utf8"),
        existsSync(join(project, "other")),
      ],
      ["same\n", "same\n", true],
    );
  });

  it("cannot reach servers of the machine, by port or by abstract name", async () => {
    const listen = (target: object): Promise<Server> =>
      new Promise((resolve) => {
        const server = createServer((socket) => socket.end("ESCAPED\n"));
        server.listen(target, () => resolve(server));
      });
    const name = `outrider-escape-${process.pid}`;
    const servers = await Promise.all([listen({ host: "127.0.0.1", port: 0 }), listen({ path: `\0${name}` })]);
    const address = servers[0]?.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const connect = (target: string): string =>
      `"${process.execPath}" -e 'require("node:net").connect(${target}).on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
    const script = [connect(`${port}, "127.0.0.1"`), connect(`{ path: "\\0${name}" }`)].join("\n");
    const outside = await sh(script, { unboxed: true });
    const inside = await sh(script);
    for (const server of servers) server.close();
    assert.deepEqual([outside.output, inside.output], ["ESCAPED\n\nESCAPED\n\n", "ECONNREFUSED\nECONNREFUSED\n"]);
  });

  it("does not see shared memory of the machine", async (test) => {
    let id: string | undefined;
    try {
      id = /\d+/.exec(execFileSync("ipcmk", ["-M", "64"], { encoding: "utf8" }))?.[0];
    } catch {
      return test.skip("there is no ipcmk on this machine");
    }
    try {
      const { output } = await sh("ipcs -m");
      assert.doesNotMatch(output, /0x[0-9a-f]{8}/);
    } finally {
      execFileSync("ipcrm", ["-m", id ?? ""]);
    }
  });

  it("ends everything with the command, whatever it did to stay", async () => {
    const { result } = await sh("(setsid nohup sleep 987654.5 >/dev/null 2>&1 &); (sleep 987654.5 & disown); true");
    assert.deepEqual(result, { end: "exit", exitCode: 0 });
    await untilGone("987654.5");
  });

  it("contains a fork bomb and ends all of it at the time limit", async () => {
    const box = await open({ limits: { processes: 60 } });
    const { result } = await runIn(box, ":(){ :|:& };: 2>/dev/null; sleep 987654.75", { timeoutMs: 1500 });
    assert.deepEqual(result, { end: "timeout" });
    await untilGone("987654.75");
    const after = await runIn(box, "echo still working");
    assert.equal(after.output, "still working\n");
  });

  it("bounds memory, file size and processor time of a process", async () => {
    const box = await open({ limits: { memoryBytes: 64 * 1024 * 1024, fileBytes: 1024 * 1024, cpuSeconds: 1 } });
    const memory = await runIn(box, "x=$(head -c 200000000 /dev/zero | tr '\\0' a); echo ESCAPED");
    const file = await runIn(box, "head -c 5000000 /dev/zero > big; stat -c %s big");
    const time = await runIn(box, "while :; do :; done", { timeoutMs: 20_000 });
    assert.doesNotMatch(memory.output, /ESCAPED/);
    assert.match(file.output, /^1048576$/m);
    assert.notEqual(time.result.end, "timeout");
  });

  it("leaves nothing behind when the agent is killed", async () => {
    const names = (): string[] => readdirSync(stage.place.project).sort();
    const before = names();
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
      env: { ...process.env, OUTRIDER_SANDBOX_VICTIM: JSON.stringify(stage.place), NODE_OPTIONS: "" },
      stdio: "ignore",
    });
    const started = join(stage.place.project, "started");
    for (let tries = 0; !existsSync(started) && tries < 1000; tries++) await pause(10);
    assert.equal(existsSync(started), true);
    child.kill("SIGKILL");
    await untilGone("987654.25");
    assert.deepEqual(names(), [...before, "started"].sort());
    assert.equal(readFileSync("/proc/self/mountinfo", "utf8").includes(stage.place.base), false);
  });

  describe("the network", () => {
    const hello = (): Promise<{ port: number; close(): void }> =>
      new Promise((resolve) => {
        const server = createServer((socket) => {
          socket.on("error", () => {});
          socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nREACHED"));
        });
        server.listen(0, "127.0.0.1", () => {
          const address = server.address();
          resolve({ port: typeof address === "object" && address ? address.port : 0, close: () => server.close() });
        });
      });
    /** Speaks to the proxy as programs do that know one, or to the target itself. */
    const ask = (port: number, text: string): string =>
      `"${process.execPath}" -e 'require("node:net").connect(${port}, "127.0.0.1", function () { this.write(${JSON.stringify(text)}) }).on("data", (d) => process.stdout.write(d)).on("error", (e) => console.log(e.code))'`;

    it("is there whole when it is allowed", async () => {
      const site = await hello();
      const box = await open({ network: { allowed: true } });
      const { output } = await runIn(box, ask(site.port, "GET / HTTP/1.1\r\n\r\n"));
      site.close();
      assert.match(output, /REACHED/);
    });

    it("leads to listed domains only, and there is no other way out", async (test) => {
      if (!existsSync("/usr/bin/socat")) return test.skip("there is no socat on this machine");
      const site = await hello();
      const box = await open({ network: { domains: [`localhost:${site.port}`] } });
      const through = (host: string): string =>
        ask(3128, `GET http://${host}:${site.port}/ HTTP/1.1\r\nHost: ${host}:${site.port}\r\nConnection: close\r\n\r\n`);
      const listed = await runIn(box, through("localhost"));
      const other = await runIn(box, through("example.org"));
      const direct = await runIn(box, `${ask(site.port, "GET / HTTP/1.1\r\n\r\n")}; echo $HTTPS_PROXY`);
      site.close();
      assert.match(listed.output, /REACHED/);
      assert.match(other.output, /403 Forbidden[\s\S]*does not allow example\.org/);
      assert.equal(direct.output, "ECONNREFUSED\nhttp://127.0.0.1:3128\n");
    });

    it("refuses a list it does not understand", async () => {
      await assert.rejects(open({ network: { domains: ["https://example.com/"] } }), { code: "config" });
    });
  });

  describe("where it cannot work", () => {
    const asRoot = { skip: process.getuid?.() === 0 ? false : "only root can own a project of somebody else" };
    it("refuses when it is required, and warns once when it is not", asRoot, async () => {
      chownSync(stage.place.project, 12_345, 12_345);
      await assert.rejects(open({ mode: "require" }), { code: "config", message: /belongs to another user/ });
      const warnings: string[] = [];
      const env = { PATH: path, HOME: stage.place.home };
      const local = createLocalWorkspace({ root: stage.place.project, env, overflowDirectory: stage.place.overflow });
      const box = await createSandboxedWorkspace({
        sandbox: { mode: "auto" },
        local,
        home: stage.place.home,
        env,
        overflowDirectory: stage.place.overflow,
        isPublicAddress: () => true,
        onWarning: (message) => warnings.push(message),
      });
      const ran = [await runIn(box, "cat ~/.bashrc"), await runIn(box, "echo two")];
      await box.close();
      assert.deepEqual(
        { outputs: ran.map(({ output }) => output), warnings: warnings.length },
        { outputs: ["# mine\n", "two\n"], warnings: 1 },
      );
    });
  });
});
