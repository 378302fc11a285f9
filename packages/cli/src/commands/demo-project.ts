import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A small project with a bug, and the words with which a model would find and mend it. */
export type DemoProject = {
  readonly files: Readonly<Record<string, string>>;
  /** Runs the project's own tests. */
  readonly test: string;
  readonly source: string;
  readonly tests: string;
  readonly edit: { readonly old: string; readonly new: string };
  readonly words: { readonly found: string; readonly reason: string; readonly fixed: string };
};

/** In JavaScript where there is a Node to run its tests, else for the shell, which is everywhere. */
export function chooseDemoProject(path: string | undefined): DemoProject {
  const hasNode = (path ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, "node")));
  return hasNode ? inJavaScript : forTheShell;
}

const inJavaScript: DemoProject = {
  files: {
    "package.json": '{ "name": "demo-project", "type": "module", "scripts": { "test": "node --test" } }\n',
    "src/average.js":
      "/** The mean of a list of numbers; 0 for an empty list. */\nexport function average(numbers) {\n  const sum = numbers.reduce((total, number) => total + number, 0);\n  return sum / numbers.length;\n}\n",
    "src/average.test.js":
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { average } from "./average.js";\n\ntest("averages numbers", () => assert.equal(average([1, 2, 6]), 3));\ntest("answers 0 for an empty list", () => assert.equal(average([]), 0));\n',
  },
  test: "node --test",
  source: "src/average.js",
  tests: "src/average.test.js",
  edit: {
    old: "export function average(numbers) {\n",
    new: "export function average(numbers) {\n  if (numbers.length === 0) return 0;\n",
  },
  words: {
    found: "The empty list gives NaN instead of 0. Let me look at the function and its test.",
    reason: "An empty list divides 0 by 0. The documented answer is 0, so the function needs that case.",
    fixed:
      "Fixed: `average([])` divided by zero and answered NaN. It now returns 0 for an empty list, as its comment says, and both tests pass.",
  },
};

const forTheShell: DemoProject = {
  files: {
    "src/average.sh":
      '# The mean of the numbers that are its arguments; 0 when there are none.\naverage() {\n  sum=0\n  for number in "$@"; do sum=$((sum + number)); done\n  echo $((sum / $#))\n}\n',
    "test.sh":
      '. ./src/average.sh\nfailed=0\ncheck() { # NAME EXPECTED NUMBER…\n  name=$1 expected=$2\n  shift 2\n  found=$(average "$@" 2>&1)\n  if [ "$found" = "$expected" ]; then echo "ok - $name"; else echo "not ok - $name: $found" && failed=1; fi\n}\ncheck "averages numbers" 3 1 2 6\ncheck "answers 0 without numbers" 0\nexit $failed\n',
  },
  test: "sh test.sh",
  source: "src/average.sh",
  tests: "test.sh",
  edit: {
    old: "average() {\n",
    new: "average() {\n  [ $# -gt 0 ] || { echo 0 && return; }\n",
  },
  words: {
    found: "Without numbers it fails instead of answering 0. Let me look at the function and its test.",
    reason: "Without numbers it divides 0 by 0. The documented answer is 0, so the function needs that case.",
    fixed:
      "Fixed: `average` divided by zero when it was given nothing. It now answers 0 then, as its comment says, and both tests pass.",
  },
};
