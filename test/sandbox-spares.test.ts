import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openBox, type Place, runIn, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const victim = process.env["OUTRIDER_SPARES_VICTIM"];

if (victim !== undefined) {
  // This file again, as an agent that has boxes waiting and nothing more to do.
  const { place, leave }: { place: Place; leave: boolean } = JSON.parse(victim);
  const workspace = await openBox(place);
  await runIn(workspace, "true");
  await untilStanding(place, 3);
  writeFileSync(join(place.project, "standing"), "");
  if (!leave) await pause(60_000);
} else {
  const skip = await whyNoSandbox();

  describe("boxes that wait for their command", { skip }, () => {
    const stage = setUpBoxes();
    const { sh } = stage;
    const standing = (): Promise<void> => untilStanding(stage.place, 3);
    const inProject = (name: string): string => join(stage.place.project, name);

    it("are there after the first command and gone with the workspace", async () => {
      await untilStanding(stage.place, 0);
      await sh("true");
      await standing();
      await stage.workspace.close();
      assert.deepEqual(waiting(stage.place), []);
    });

    for (const [name, leave] of [
      ["is killed", false],
      ["leaves without a word", true],
    ] as const) {
      it(`do not outlive an agent that ${name}, nor keep it`, async () => {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
          env: {
            ...process.env,
            OUTRIDER_SPARES_VICTIM: JSON.stringify({ place: stage.place, leave }),
            NODE_OPTIONS: "",
            NODE_TEST_CONTEXT: undefined,
          },
          stdio: "ignore",
        });
        const gone = new Promise((resolve) => child.once("exit", resolve));
        for (let tries = 0; !existsSync(inProject("standing")) && tries < 1500; tries++) await pause(10);
        assert.equal(existsSync(inProject("standing")), true);
        if (!leave) child.kill("SIGKILL");
        await gone;
        await untilStanding(stage.place, 0);
      });
    }

    it("are not used once a protected file was replaced outside, which takes its mount away", async () => {
      const config = inProject(".git/config");
      await sh("true");
      await standing();
      writeFileSync(`${config}.new`, "[core]\n\tbare = false\n");
      renameSync(`${config}.new`, config);
      await sh("echo evil >> .git/config");
      assert.equal(readFileSync(config, "utf8"), "[core]\n\tbare = false\n");
    });

    it("are not used once a protected file was taken off its name and put back", async () => {
      const config = inProject(".git/config");
      const before = readFileSync(config, "utf8");
      await sh("true");
      await standing();
      linkSync(config, inProject("other"));
      unlinkSync(config);
      linkSync(inProject("other"), config);
      unlinkSync(inProject("other"));
      await sh("echo evil >> .git/config");
      assert.equal(readFileSync(config, "utf8"), before);
    });

    it("are not used once there is more to protect", async () => {
      await sh("true");
      await standing();
      writeFileSync(inProject(".envrc"), "mine\n");
      const { output } = await sh(
        "echo evil >> .envrc; echo evil > .envrc.new; mv -f .envrc.new .envrc; cat .envrc; rm -f .envrc.new",
      );
      assert.match(output, /mine\n$/);
      assert.equal(readFileSync(inProject(".envrc"), "utf8"), "mine\n");
    });

    it("give a command its whole time, however long they waited", async () => {
      await sh("true");
      await standing();
      await pause(700);
      const { result, output } = await sh("sleep 0.3; echo done", { timeoutMs: 600 });
      assert.deepEqual({ result, output }, { result: { end: "exit", exitCode: 0 }, output: "done\n" });
    });

    it("pass every word on as it is", async () => {
      const bytes = Array.from({ length: 0x7f }, (_, index) => String.fromCharCode(index + 1)).join("");
      const words = [
        bytes,
        "",
        "''",
        "'\\''",
        "$(echo x)`echo y`",
        "}\n{ exit 3; }\n",
        "a\u0081\u0088\u00a0é漢🙂",
        "-n",
        "x".repeat(100_000),
      ];
      await sh("true");
      for (const wanted of [words, [...words].reverse()]) {
        await standing();
        let output = "";
        const result = await stage.workspace.run({
          file: "printf",
          args: ["%s\\0", ...wanted],
          env: { A: bytes, "B-C": "odd name" },
          timeoutMs: 20_000,
          signal: new AbortController().signal,
          onOutput: ({ bytes: chunk }) => {
            output += Buffer.from(chunk).toString("utf8");
          },
        });
        assert.deepEqual({ result, words: output.split("\0") }, { result: { end: "exit", exitCode: 0 }, words: [...wanted, ""] });
      }
      const environment = await sh('printf %s "$A"; env | grep -c "^B-C=odd name$"', { env: { A: bytes, "B-C": "odd name" } });
      assert.equal(environment.output, `${bytes}1\n`);
    });

    describe("with a bash that waits for its script", () => {
      const scripts = [
        "echo $0 $# $- $LINENO $SECONDS $BASH_SUBSHELL $BASH_SOURCE; compgen -v outrider; trap; set -o",
        "env | grep -v -e ^OUTRIDER_PROCESS_SCOPE -e ^_= | sort; pwd; echo $OLDPWD",
        "cat; ls /proc/$$/fd; readlink /proc/$$/fd/0; ps -e --no-headers -o comm; true",
        "echo out; echo err >&2; nonesuch; echo $(( 1 / 0 ))\necho $LINENO; false",
        "trap 'echo at the end' EXIT; exit 3",
        "kill -9 $$",
        "umask; ulimit -a",
        "echo é '漢🙂' \"it's\"; x=\\\\ä\nprintf '%s ' $LINENO \"$x\"; nonesuch\n",
      ];
      for (const script of scripts) {
        it(`are what a new one would be: ${JSON.stringify(script)}`, async () => {
          const options = { cwd: "sub", env: { ODD: "it's \n $(x)" } };
          mkdirSync(inProject("sub"));
          const plain = await sh(script, options);
          await stage.workspace.close();
          const again = await openBox(stage.place);
          await runIn(again, "true", { ...options, isRepeated: true, cwd: "." });
          await standing();
          const before = waiting(stage.place);
          assert.deepEqual(await runIn(again, script, { ...options, isRepeated: true }), plain);
          assert.equal(
            before.every((pid) => waiting(stage.place).includes(pid)),
            false,
            "it was one of those that waited",
          );
          await again.close();
        });
      }

      it("go to the folder as it is when the command comes", async () => {
        mkdirSync(inProject("sub"));
        await sh("true", { isRepeated: true, cwd: "sub" });
        await standing();
        renameSync(inProject("sub"), inProject("old"));
        mkdirSync(inProject("sub"));
        writeFileSync(inProject("sub/here"), "");
        assert.equal((await sh("ls", { isRepeated: true, cwd: "sub" })).output, "here\n");
      });

      it("are not for a command with other variables", async () => {
        await sh("true", { isRepeated: true, env: { A: "1", B: "2" } });
        await standing();
        assert.equal((await sh("echo $A $B", { isRepeated: true, env: { A: "3" } })).output, "3\n");
      });

      it("run the command elsewhere when they cannot", async () => {
        mkdirSync(inProject("bin"));
        writeFileSync(inProject("bin/bash"), '#!/bin/sh\nexec /bin/sh "$@"\n', { mode: 0o755 });
        const env = { PATH: `${inProject("bin")}:${process.env["PATH"]}` };
        for (const word of ["one", "two", "three"]) {
          assert.equal((await sh(`echo ${word}`, { isRepeated: true, env })).output, `${word}\n`);
        }
      });
    });

    describe("whatever the command before did", () => {
      const mark = "\\036outrider-box-ready\\036";
      // `next` runs after each, in a box that stood while it ran.
      const attempts: readonly (readonly [name: string, script: string])[] = [
        ["saying that it is ready", `printf '${mark}${mark}' >&2; printf '${mark}'`],
        ["killing everything it can", "kill -9 -1; kill -9 1 $PPID"],
        ["writing to the files of whoever started it", "for f in /proc/[0-9]*/fd/*; do (echo forged > $f) 2>/dev/null; done"],
        ["closing and shutting what it was given", "exec 0<&- 1>&- 2>&-"],
        ["reading orders from what its parents hold", "timeout 0.3 cat /proc/1/fd/0 /proc/2/fd/0 >/dev/null 2>&1"],
        ["staying behind with its output", "(setsid bash -c 'while sleep 0.05; do echo forged; done' &)"],
        ["setting traps and limits", "trap 'echo forged' EXIT; ulimit -n 5; ulimit -t 1; umask 777"],
        [
          "filling its home and shared memory",
          "mkdir -p ~/x && echo forged > ~/x/y; echo forged > /dev/shm/z; echo forged > /var/tmp/z",
        ],
        ["using up its processes", "for i in $(seq 300); do sleep 30 & done 2>/dev/null"],
        [
          "making other files of its temporary directory",
          "echo 'echo forged' > /tmp/sh; echo 'echo forged' > /tmp/.profile; chmod +x /tmp/sh",
        ],
        ["printing half a character and leaving", "printf '\\xf0\\x9f'; kill -9 $$"],
      ];
      for (const [name, script] of attempts) {
        it(`say and return what their own does: ${name}`, async () => {
          const next =
            'echo own; [ -z "$(cat ~/x/y /dev/shm/z /var/tmp/z 2>/dev/null)" ]; echo $? $(ps -e --no-headers | grep -c sleep); umask; exit 7';
          await sh("true");
          await standing();
          await sh(script);
          const { result, output } = await sh(next);
          assert.deepEqual({ result, output }, { result: { end: "exit", exitCode: 7 }, output: "own\n0 0\n0022\n" });
        });
      }
    });
  });
}

/** Boxes of this place that stand and have nothing to do: their shells read on. */
function waiting(place: Place): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      const isShell = /^\/bin\/(?:sh|bash\0--posix)\0-s\0$|^bash\0-c\0IFS= read -r -u 3 /.test(
        readFileSync(`/proc/${name}/cmdline`, "latin1"),
      );
      return isShell && readFileSync(`/proc/${name}/environ`, "latin1").includes(`HOME=${place.home}`);
    } catch {
      return false;
    }
  });
}

async function untilStanding(place: Place, count: number): Promise<void> {
  for (let tries = 0; waiting(place).length !== count && tries < 1000; tries++) await pause(10);
  assert.equal(waiting(place).length, count);
}
