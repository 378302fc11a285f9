import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { expandedNames } from "./expanded-names.ts";

describe("the variables that a line puts in somewhere", () => {
  const forms = [
    "echo $X",
    'echo "$X"',
    `echo "a\${X}b"`,
    `echo "\${X:0:20}"`,
    `echo "\${X#s}"`,
    `echo \${#X}`,
    `echo "\${y:-$X}"`,
    `echo "\${y/a/$X}"`,
    "y=$X",
    'y=("$X")',
    "[[ $X == a* ]] && echo yes",
    'cat <<< "$X"',
    "cat <<E\n$X\nE\n",
    "for y in $X; do echo a; done",
    "case $X in a) echo a;; esac",
    'echo "$(echo "$X" | rev)"',
    "echo `echo $X`",
    'cat <(echo "$X")',
    "echo {a,$X}",
    '{ echo "$X"; } | od -c',
    'if [ -n "$X" ]; then echo a; fi',
    "cat > $X",
  ];
  for (const text of forms)
    it(`are found in ${JSON.stringify(text)}`, () => assert.ok(expandedNames(text, false).has("X"), text));

  it("are not those that are written in a text", () => {
    for (const text of ["echo '$X'", 'echo "\\$X"', "echo X", "X=1 npm test", "cat <<'E'\n$X\nE\n"])
      assert.deepEqual([...expandedNames(text, false)], [], text);
  });

  it("are those of quoted texts as well where another shell reads one", () => {
    for (const text of ["bash -c 'echo $X'", `bash -c 'echo \${X}'`, `bash -c 'echo \${#X}'`])
      assert.deepEqual([...expandedNames(text, true)], ["X"], text);
  });
});
