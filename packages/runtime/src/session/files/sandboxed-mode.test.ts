import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedProvider } from "../../model/scripted.ts";
import type { CommandPlaces } from "../../workspace/open-workspace.ts";
import type { SandboxOptions } from "../../workspace/sandbox.ts";
import { boxReach, otherMachine, refuseWithoutBox, sandboxOf } from "./sandboxed-mode.ts";

const options = { cwd: "/project", home: "/home/me", provider: createScriptedProvider([]) };

describe("mode sandboxed", () => {
  it("asks for a box that hides what rules forbid to read by name, and keeps what they forbid to change", () => {
    const deny = [{ text: "Read(secret/**)", source: "settings" }];
    const disallowedTools = [
      "Read(./.env)",
      "Read(~/.ssh)",
      "Read(*.pem)",
      "Read(a?)",
      "Read",
      "Bash(cat x)",
      "Edit(./b)",
      "Write(c/**)",
      "Edit(*.ts)",
    ];
    assert.deepEqual(sandboxOf({ ...options, disallowedTools, permissions: { deny, root: "/settings" } }), {
      mode: "auto",
      denyRead: ["/settings/.env", "/home/me/.ssh", "/settings/secret"],
      denyWrite: ["/settings/b", "/settings/c"],
    });
    assert.deepEqual(sandboxOf({ ...options, disallowedTools: ["Read(./.env)"] }).denyRead, ["/project/.env"]);
    const sandbox: SandboxOptions = { mode: "require", denyRead: ["/x"], denyWrite: ["/y"] };
    assert.deepEqual(sandboxOf({ ...options, sandbox }), sandbox);
  });

  it("does not begin without one, and says why", () => {
    const none = { sandbox: "none", reason: "no bubblewrap" } as CommandPlaces;
    assert.throws(() => refuseWithoutBox(options, none), {
      code: "config",
      message: /there is none: no bubblewrap\.$/,
      hint: /Install/,
    });
    const off = { sandbox: "none", reason: "the sandbox is turned off" } as CommandPlaces;
    assert.throws(() => refuseWithoutBox({ ...options, sandbox: { mode: "off" } }, off), {
      message: /the sandbox is turned off/,
      hint: /Do not turn/,
    });
    refuseWithoutBox(options, { sandbox: "bubblewrap" } as CommandPlaces);
  });

  it("reaches itself and the listed domains on their ports, and nothing else", () => {
    const { reaches, writable } = boxReach({ mode: "auto", network: { domains: ["example.com", "git.example.com:9418"] } });
    for (const url of [
      "http://localhost:3000/",
      "http://127.0.0.1:1/",
      "http://127.9.9.9/",
      "http://[::1]:8/",
      "https://example.com/x",
      "http://example.com",
      "git://git.example.com/x",
    ])
      assert.equal(reaches(new URL(url)), true, url);
    for (const url of [
      "http://[::2]/",
      "http://128.0.0.1/",
      "https://example.com:8443",
      "https://www.example.com",
      "ssh://example.com",
      "https://git.example.com",
    ])
      assert.equal(reaches(new URL(url)), false, url);
    assert.deepEqual(writable, []);
    assert.equal(boxReach({ mode: "auto", network: { allowed: true } }).reaches(new URL("https://any.org")), true);
    assert.equal(boxReach(undefined).reaches(new URL("https://any.org")), false);
    assert.equal(otherMachine.reaches(new URL("https://any.org")), true);
  });
});
