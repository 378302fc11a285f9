import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isHarmlessJq, isHarmlessYq } from "./jq-filters.ts";

function assertEach(check: (filter: string) => boolean, expected: boolean, filters: readonly string[]): void {
  for (const filter of filters) assert.equal(check(filter), expected, filter);
}

describe("a filter of jq", () => {
  it("may compute with what it is given", () =>
    assertEach(isHarmlessJq, true, [
      ".",
      ".a.b[0]",
      ".scripts | keys[]",
      ".env",
      "$env",
      ".a_env",
      '.[] | select(.type=="x") | "\\(.a): \\(.b|length)"',
      "{a, b: .c, env}",
      "[.[] | {name, v: .version}]",
      "def f(x): x + 1; f(.a)",
      "def f: 1; f",
      ". as $x | $x.b",
      "to_entries[] | .key",
      '."a-b"',
      "..|objects",
      "with_entries(.value |= tostring)",
      '.["a-b"]',
      "@csv",
      '.a // "x"',
      "reduce .[] as $i (0; . + $i)",
      "if .a then 1 else 2 end",
      'select(.name | test("^a"))',
      '[paths(scalars) | join(".")]',
      "# note\n.a",
      ".a # note",
      "limit(3; .[])",
      ".[] | [.a, .b] | @tsv",
      "{(.a): .b}",
      '.a == "env"',
      '"\\\\" | .a',
      "group_by(.a) | map({k: .[0].a, n: length})",
      "{env: 1}",
      "$__loc__",
      "{a: {env}}",
      "1.5 + .5",
      '"a \\("b \\(.c)")" | .d',
      '"\\(1)(env)"',
    ]));

  it("may name neither the environment, nor modules, nor what nobody knows", () =>
    assertEach(isHarmlessJq, false, [
      "env",
      "$ENV.x",
      "$ ENV",
      "$\nENV",
      'import "x" as y; .',
      'include "x"; .',
      "input_filename",
      "modulemeta",
      "get_search_list",
      '"\\(env)"',
      '"a \\("b \\(env)")"',
      "[env]",
      "{a: env}",
      "[1, env, 2]",
      "{a: (env)}",
      "{a: [env, 1]}",
      "{(env): 1}",
      ".|env",
      ". env",
      ".a-env",
      "$__prog_args",
      "def env: 1; env",
      "def f: 1; g",
      "nosuch",
      '@text "\\(env)"',
      '"',
      '"\\(1"',
      "`",
      "a::b",
      "{a, (env): 1}",
      '# \\\n "\n env # "',
      "# a\r\nenv",
      "{a: 1 | env}",
      ". | nosuch",
      '{"\\(1, env, 2)": 1}',
      '"\\((1) + env)"',
    ]));
});

describe("an expression of yq", () => {
  it("may compute with what it is given", () =>
    assertEach(isHarmlessYq, true, [
      ".",
      ".x",
      ".a.b-c[0]",
      ".spec.*",
      ".a | keys",
      'select(.kind == "Deployment")',
      ".jobs.build.steps[].name",
      '.. | select(has("a"))',
      '... comments=""',
      "sort_keys(..)",
      ".a-b-c.d-e",
      ".system",
    ]));

  it("may not read other files, run anything or show the environment", () =>
    assertEach(isHarmlessYq, false, [
      'load("x")',
      "env(x)",
      "strenv(x)",
      'eval("x")',
      "$ENV",
      "envsubst",
      'system("x")',
      'load_str("x")',
      "filename",
      ".a-env",
      ".a-b-env",
      "def load: 1; load",
    ]));
});
