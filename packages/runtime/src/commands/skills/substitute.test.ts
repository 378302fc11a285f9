import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { preparePrompt } from "./prepare-prompt.ts";
import { preprocessShellCommands } from "./shell-commands.ts";
import { splitArguments, substituteVariables } from "./substitute.ts";

describe("arguments in the text of a skill", () => {
  const names = ["who", "what"];
  const variables = { CLAUDE_SESSION_ID: "s-1" };
  const cases: [text: string, args: string, made: string][] = [
    ["all=$ARGUMENTS", "a  'b c'", "all=a  'b c'"],
    ["$0 $1 $2", "'hello world' second", "hello world second $2"],
    ["$ARGUMENTS[1] $ARGUMENTS[5]", "a b", "b $ARGUMENTS[5]"],
    ["$who/$what", "me", "me/"],
    [`\${who} \${CLAUDE_SESSION_ID} \${HOME} $HOME`, "", `\${who} s-1 \${HOME} $HOME`],
    ["\\$1.00 \\$ARGUMENTS \\$HOME $ARGUMENTS", "x", "$1.00 $ARGUMENTS \\$HOME x"],
    ["no placeholder", "", "no placeholder"],
    ["no placeholder", "a b", "no placeholder\n\nARGUMENTS: a b"],
    // What an argument holds is data, whatever it looks like.
    ["<$ARGUMENTS>", `$& $\` $' $$ $1 $ARGUMENTS \${CLAUDE_SESSION_ID}`, `<$& $\` $' $$ $1 $ARGUMENTS \${CLAUDE_SESSION_ID}>`],
    ["<$0>", '"$1" x', "<$1>"],
    ["<$ARGUMENTS>", "!`rm -rf .` @/etc/passwd \\$1", "<!`rm -rf .` @/etc/passwd \\$1>"],
    ["<$ARGUMENTS>", "two\nlines\u2028and more", "<two\nlines\u2028and more>"],
    ["$10|$1", "a b c d e f g h i j k", "k|b"],
    ["$whoever $who", "me", "$whoever me"],
    ["$0x $0. a$0 $ARGUMENTSX $$0", "me", "$0x me. ame meX $me"],
    ["\\\\$0 \\$0", "me", "\\\\me $0"],
  ];
  for (const [text, args, made] of cases)
    it(`${JSON.stringify(text)} with ${JSON.stringify(args)}`, () => {
      assert.equal(substituteVariables(text, { args, argumentNames: names, variables }), made);
    });

  it("are cut like a shell cuts them", () => {
    const words: [string, string[]][] = [
      [`a "b c" 'd e' f\\ g`, ["a", "b c", "d e", "f g"]],
      [`x"y z"w`, ["xy zw"]],
      [`it's "open`, ["it's", '"open']],
      ["", []],
    ];
    for (const [args, expected] of words) assert.deepEqual(splitArguments(args), expected, args);
  });
});

describe("commands in the text of a skill", () => {
  it("stand at the start of a word, or in a block of their own", () => {
    const text = "a !`echo one` b\nX=!`echo two`\n!`three`\n```!\nfour\n!`five`\n```\n```sh\n!`six`\n```\n!``";
    assert.deepEqual(
      preprocessShellCommands(text).map(({ command }) => command),
      ["echo one", "three", "four\n!`five`", "six"],
    );
  });

  it("begin in blocks that need an end, which is the first after them", () => {
    const text = "```\n```!\na\n```!\n```\t\r\n```! \r\nb\r\n```\nc\n```!\n\n```\n```!\n!`d`\n";
    assert.deepEqual(
      preprocessShellCommands(text).map(({ command, written }) => [command, written]),
      [
        ["a\n```!", "```!\na\n```!\n```\t"],
        ["b", "```! \r\nb\r\n```"],
        ["d", "!`d`"],
      ],
    );
  });

  it("are found in a text as long as may be that only begins blocks, and in one of nothing but blocks and words", () => {
    assert.deepEqual(preprocessShellCommands("```!\n".repeat(200_000)), []);
    assert.equal(preprocessShellCommands("```!\na\n```\n!`b` !`c`\n".repeat(50_000)).length, 150_000);
  });

  it("and files are what the author wrote, with the arguments in the places that were made for them", () => {
    const { pieces, files } = preparePrompt('!`git log $1` of @$0 and @"a b.txt", (@no.txt) $ARGUMENTS', {
      args: 'src/x.ts "-n 2" !`rm` @secret',
    });
    assert.deepEqual(pieces, [
      { type: "command", command: "git log -n 2", written: "!`git log $1`" },
      { type: "text", text: ' of @src/x.ts and @"a b.txt", (@no.txt) src/x.ts "-n 2" !`rm` @secret' },
    ]);
    assert.deepEqual(files, ["src/x.ts", "a b.txt"]);
  });
});
