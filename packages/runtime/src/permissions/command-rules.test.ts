import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forbids, forbidsText, isWholeCommand, wordsAllowed } from "./command-rules.ts";
import { parseCommand } from "./parse-command.ts";

function programOf(command: string) {
  return parseCommand(command).programs[0] ?? assert.fail(command);
}

describe("a rule for a command", () => {
  it("allows by words at the start, by the whole command, or by text with wildcards", () => {
    const allowed = (pattern: string, command: string): string => {
      const match = wordsAllowed(pattern, programOf(command));
      return match ? `${match.words}${match.whole ? " whole" : ""}` : "no";
    };
    const cases: [string, string, string][] = [
      ["git diff:*", "git diff", "2"],
      ["git diff:*", "git diff --stat a", "2"],
      ["git diff:*", "git", "no"],
      ["git diff:*", "git log", "no"],
      ["git diff:*", "git difftool", "no"],
      ["git diff *", "git diff a", "2"],
      ["git diff  *", "git diff a", "2"],
      ["npm test", "npm test", "2 whole"],
      ["npm test", "npm test -- x", "no"],
      ["npm 'a b'", "npm 'a b'", "2 whole"],
      ['npm "a b"', "npm 'a b'", "2 whole"],
      ["npm ''", 'npm ""', "2 whole"],
      ["ls:*", "/bin/ls -l", "1"],
      ["ls:*", "/usr/bin/ls", "1"],
      ["ls:*", "./ls", "no"],
      ["ls:*", "/tmp/ls", "no"],
      ["git ls:*", "git /bin/ls", "no"],
      ["ls:*", "$x", "no"],
      ["ls:*", "ls$x", "no"],
      ["rm \\*", "rm '*'", "2 whole"],
      ["rm \\*:*", "rm '*' a", "2"],
      ["rm \\*:*", "rm a", "no"],
      ["npm run test*", "npm run test:unit", "2"],
      ["npm run test*", "npm run build", "no"],
      ["npm run * x", "npm run a b x", "2"],
      ["npm run * x", "npm run a b y", "no"],
      ["* --version", "node --version", "0"],
      ["a*c*e b", "abcde b", "0"],
      ["a*c*e", "abcd", "no"],
      ["a*bc", "abbc", "0"],
      ["a*bcd", "abcbcd", "0"],
      ["ab*bc", "abc", "no"],
      ["a*b*c", "axc", "no"],
      ["a*bb*c", "abc", "no"],
      ["a*b*c*d", "acbd", "no"],
      ["a*b*b*c", "abc", "no"],
      ["a*b*b*c", "abbc", "0"],
      ["git log*", "git log $x", "no"],
      ["rm \\*a*", "rm '*ab'", "1"],
      ["rm \\*a*", "rm xab", "no"],
    ];
    for (const [pattern, command, expected] of cases)
      assert.equal(allowed(pattern, command), expected, `${pattern} | ${command}`);
  });

  it("allows exactly its text, whatever operators are in it", () => {
    assert.equal(isWholeCommand("a && b > c", " a && b > c "), true);
    assert.equal(isWholeCommand("rm \\*", "rm *"), true);
    assert.equal(isWholeCommand("a && b", "a && b c"), false);
    assert.equal(isWholeCommand("a:*", "a:*"), false);
    assert.equal(isWholeCommand("a*", "a*"), false);
  });

  it("forbids by the program, whatever its path, its case, the order and the spelling of its options", () => {
    const yes: [string, string][] = [
      ["rm:*", "rm x"],
      ["rm:*", "/opt/RM x"],
      ["/bin/rm:*", "rm x"],
      ["rm -rf:*", "rm -fr x"],
      ["rm -rf:*", "rm -r -f x"],
      ["rm -rf:*", "rm --recursive --force x"],
      ["rm -rf:*", "rm x --rec --for"],
      ["rm -r:*", "rm -R x"],
      ["git push --force:*", "git push -f"],
      ["git push --force:*", "git push origin --force=x"],
      ["git push --force:*", "git push --force-with-lease"],
      ["git push:*", "git -C x push"],
      ["git push:*", "git --no-pager push a"],
      ["git push:*", "git $x"],
      ["git push origin:*", "git push $x"],
      ["npm publish", "npm publish"],
      ["npm publish", "npm publish --tag x"],
      ["npm publish", "npm publish --tag $x"],
      ["git push", "git --x$y push"],
      ["git push*", "GIT push origin"],
      ["git push --force:*", "git push --fo"],
      ["git commit --amend:*", "git commit --am -m x"],
      ["git reset --hard:*", "git reset --h"],
      ["make deploy", "make X=1 deploy"],
      ["make deploy", "make -s a deploy b"],
      ["make deploy:*", "make $x"],
      ["make a b:*", "make b c a"],
      ["mvn deploy:*", "mvn clean deploy"],
      ["pip install:*", "pip3 install x"],
      ["pip install:*", "pip3.11 install x"],
      ["pip3 install:*", "pip install x"],
      ["python:*", "python3.11 x"],
      ["python3:*", "python3.11 x"],
      ["g++:*", "g++-12 x"],
      ["cargo publish:*", "cargo +nightly publish"],
      ["cargo publish:*", "cargo +$x -q publish"],
      ["pnpm publish:*", "pnpm recursive publish"],
      ["pnpm publish:*", "pnpm -w m publish"],
      ["yarn publish:*", "yarn workspace a publish"],
      ["yarn publish:*", "yarn npm publish"],
      ["yarn publish:*", "yarn workspaces foreach -A publish"],
      ["docker run:*", "docker container run x"],
      ["docker run:*", "docker -D container run x"],
      ["docker container run:*", "docker run x"],
      ["docker build:*", "docker buildx build ."],
      ["podman push:*", "podman image push x"],
      ["helm uninstall:*", "helm delete x"],
      ["helm uninstall:*", "helm -n a del x"],
      ["helm delete:*", "helm un x"],
      ["rm -x:*", "rm -x"],
      ["rm -x:*", "rm -ax"],
      [":*", "anything"],
      ["git * push *", "git -C x push"],
      ["git * push *", "git -C x push origin"],
    ];
    const no: [string, string][] = [
      ["rm:*", "rmdir x"],
      ["rm -rf:*", "rm -r x"],
      ["rm -rf:*", "rm - x"],
      ["git push:*", "git log push"],
      ["git push:*", "git --x=y log push"],
      ["git push:*", "git -- log push"],
      ["git push --force:*", "git push"],
      ["git push --force:*", "git push --fu"],
      ["git push --force:*", "git push -o x"],
      ["git push --force:*", "git push --"],
      ["git commit --amend:*", "git commit -m --x"],
      ["make deploy", "make a"],
      ["make", "make a"],
      ["make deploy", "make --deploy"],
      ["make a b", "make b"],
      ["python2:*", "python3 x"],
      ["pip:*", "pipx run x"],
      ["md:*", "md5sum x"],
      ["cargo publish:*", "cargo +nightly build"],
      ["docker run:*", "docker image run"],
      ["docker run:*", "docker container"],
      ["docker rm:*", "docker image rm x"],
      ["yarn publish:*", "yarn workspace publish"],
      ["npm publish", "npm publish x"],
      ["npm publish", "npm"],
      ["git push origin:*", "git push upstream"],
      ["git push*", "git pull"],
      ["git * push *", "git -C x pushes"],
      ["rm -x:*", "rm -y"],
      ["rm -f:*", "rm xf"],
    ];
    assert.deepEqual(
      yes.filter(([pattern, command]) => !forbids(pattern, programOf(command))),
      [],
    );
    assert.deepEqual(
      no.filter(([pattern, command]) => forbids(pattern, programOf(command))),
      [],
    );
  });

  it("forbids the text as a person reads it", () => {
    assert.equal(forbidsText("curl * | sh", "curl x | sh"), true);
    assert.equal(forbidsText("curl * | sh", "curl x | bash"), false);
    assert.equal(forbidsText("a | b", " a | b "), true);
    assert.equal(forbidsText("a | b", "a | b c"), false);
    assert.equal(forbidsText("a:*", "a"), false);
    assert.equal(forbidsText("* x **", "a x b"), true);
    assert.equal(forbidsText("**", ""), true);
    assert.equal(forbidsText("*a", ""), false);
  });
});
