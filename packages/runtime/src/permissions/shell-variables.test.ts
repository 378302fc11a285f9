import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exactWord, unknownWord } from "./shell-words.ts";
import { isHarmlessVariable, isOrdinaryExport, isOrdinaryName } from "./shell-variables.ts";

const environment = new Set(["EDITED", "CI", "lower"]);

function assertRows(check: (name: string) => boolean, rows: Record<"yes" | "no", string>): void {
  for (const name of rows.yes.split(" ")) assert.equal(check(name), true, name);
  for (const name of rows.no.split(" ")) assert.equal(check(name), false, name);
}

describe("a variable", () => {
  it("is ordinary where its name means nothing to bash and programs", () =>
    assertRows((name) => isOrdinaryName({ name }, environment), {
      yes: "x FOO my_name REPLY CI NODE_ENV COLOR",
      no: "EDITED lower PATH HOME LD_PRELOAD GIT_DIR BASH_ENV PS1 IFS x[0] 1x https_proxy",
    }));

  it("may be ordinary where the environment is not known", () =>
    assertRows((name) => isOrdinaryName({ name }, undefined), { yes: "EDITED x", no: "PATH RANDOM" }));

  it("may be exported where no program has heard of it", () =>
    assertRows((name) => isOrdinaryExport({ name }, environment), {
      yes: "x FOO_1 MY_NAME A CI",
      no: "FOOD lower COLOR npm_config_x http_proxy EDITED PATH",
    }));

  it("may hold a zone by its name, and no path", () => {
    for (const text of ["UTC", "Europe/Berlin", "", "<+03>-3"])
      assert.equal(isHarmlessVariable("TZ", exactWord(text)), true, text);
    for (const text of ["/etc/x", "../x", ":x", "a/../b"]) assert.equal(isHarmlessVariable("TZ", exactWord(text)), false, text);
    assert.equal(isHarmlessVariable("TZ", unknownWord), false);
    assert.equal(isHarmlessVariable("TZ", { ...exactWord("UTC"), tilde: true }), false);
    assert.equal(isHarmlessVariable("TZ"), false);
  });

  it("may hold the name of a language or a terminal, and no path", () => {
    for (const text of ["C", "C.UTF-8", "de_DE@euro", "de:en", ""]) {
      assert.equal(isHarmlessVariable("LANGUAGE", exactWord(text)), true, text);
      assert.equal(isOrdinaryExport({ name: "LC_ALL", value: exactWord(text) }, environment), true, text);
      assert.equal(isOrdinaryName({ name: "LANG", value: exactWord(text) }, environment), true, text);
    }
    assert.equal(isHarmlessVariable("TERM", exactWord("xterm-256color")), true);
    for (const name of ["LANG", "LANGUAGE", "LC_MESSAGES", "TERM"])
      for (const value of [exactWord("../x"), exactWord("a/b"), exactWord(".."), unknownWord, undefined]) {
        assert.equal(isHarmlessVariable(name, value), false, `${name} ${value?.text}`);
        assert.equal(isOrdinaryName({ name, value }, environment), false, `${name} ${value?.text}`);
        assert.equal(isOrdinaryExport({ name, value }, environment), false, `${name} ${value?.text}`);
      }
  });
});
