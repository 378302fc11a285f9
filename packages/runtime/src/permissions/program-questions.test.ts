import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCommand } from "./parse-command.ts";
import { ordersFor, questionOf } from "./program-questions.ts";

const question = (command: string): string => questionOf(parseCommand(command).programs[0] ?? assert.fail(command)) ?? "none";

describe("a question to a program about itself", () => {
  it("may be answered by a copy that the project names, where there is a file for that", () => {
    assert.deepEqual(
      [question("cargo --help"), ordersFor("cargo"), ordersFor("foo")],
      ["certain", ["rust-toolchain", "rust-toolchain.toml"], undefined],
    );
    for (const proxy of ["rust-analyzer", "rust-gdbgui", "rls", "clippy-driver", "cargo-miri"])
      assert.deepEqual(ordersFor(proxy), ordersFor("cargo"), proxy);
  });

  it("is none where something is put into its input", () => {
    const last = (command: string): string => questionOf(parseCommand(command).programs.at(-1) ?? assert.fail(command)) ?? "none";
    const fed = ["< a", "<<< a", "0<a", "<&3", "< /dev/null < a", "<< E\na\nE"].map((input) => `foo --help ${input}`);
    for (const command of [...fed, "a | foo --help", "a |& foo --help", "{ foo --help; } < a"])
      assert.equal(last(command), "none", command);
    for (const input of ["", "< /dev/null", "> a", "2>&1", "2> /dev/null"])
      assert.equal(last(`foo --help ${input}`), "certain", input);
    assert.equal(last("cat a | cat; foo --help"), "certain");
  });

  it("is one word that is known to do no more than answer", () => {
    const certain = [
      "foo --help",
      "foo --version",
      "node -v",
      "python3.12 -V",
      "java -version",
      "go version",
      "npm version",
      "docker version",
    ];
    const likely = ["foo version"];
    const none = [
      "foo",
      "foo --help x",
      "./foo --help",
      "foo $x",
      "$x --help",
      "yarn --version",
      "jest --help",
      "foo -v",
      "foo -h",
      "cat version",
      "pydoc3 version",
      "python3.6m version",
      "rustfmt version",
      "tsc version",
      "kubectl version",
      "cfn-lint --version",
      "bash version",
      "make version",
      "just version",
      "sudo version",
      "foo versions",
    ];
    assert.deepEqual(
      certain.filter((command) => question(command) !== "certain"),
      [],
    );
    assert.deepEqual(
      likely.filter((command) => question(command) !== "likely"),
      [],
    );
    assert.deepEqual(
      none.filter((command) => question(command) !== "none"),
      [],
    );
  });
});
