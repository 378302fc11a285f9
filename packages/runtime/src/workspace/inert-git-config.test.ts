import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { inertConfig, inertDrivers, inertFiles } from "./inert-git-config.ts";

/** Words in names of keys that start a program, reach the network, or lead to other files. */
const suspicious =
  /cmd|command|program|helper|driver|textconv|clean|smudge|process|pack|tunnel|editor|pager|hook|ssh|askpass|proxy|exec|external|filter|tool|fsmonitor|path|file|browser|viewer|template|update|server|worktree|include|alias|vcs|url|promisor|protocol|recurse|submodule|signature|program|autocorrect|bare|dir$|dir\.|target|auto|partial|lazy|script|run|sign|mailmap|blob|list$/i;

/** Why a key that sounds so needs no word of ours. */
const harmless: readonly (readonly [why: string, keys: RegExp])[] = [
  ["words, colours and columns of the output", /^(?:advice|color|column|i18n|versionsort)\./],
  ["which damage is told of", /^(?:fsck|fetch\.fsck|receive\.fsck)\./],
  [
    "a switch, a number or a format of something that is said otherwise",
    /^core\.(?:fsmonitorHookVersion|fileMode|filesRefLockTimeout|bigFileThreshold|fsyncObjectFiles|hideDotFiles|quotePath|bare|autocrlf|untrackedCache|packedGit\w+|packedRefsTimeout|deltaBaseCacheLimit|sharedRepository|logAllRefUpdates|warnAmbiguousRefs|protectHFS|protectNTFS|multiPackIndex)$/,
  ],
  [
    "how objects are packed",
    /^(?:pack|gc|repack|maintenance|commitGraph|feature|index|splitIndex|uploadpackfilter|receive|transfer|fastimport|bundle|bitmap\w*)\./,
  ],
  ["the script refuses what leads outside", /^(?:core\.worktree$|include(?:If)?\.)/i],
  ["the script says --no-ignore-revs-file", /^blame\.ignoreRevsFile$/],
  ["an object of the repository itself", /^mailmap\.blob$/],
  ["no builtin can have an alias, and nothing else is called unasked", /^alias\./],
  ["GIT_PAGER goes over it", /^pager\./],
  ["every protocol is off", /^(?:remote|url|http|protocol|fetch|ssh|remotes|credential|imap|transfer)\./],
  [
    "of commands that are more than looking",
    /^(?:am|add|apply|branch|clone|clean|commit|format|gitcvs|gitweb|gui|guitool|init|instaweb|merge|mergetool|difftool|notes|pull|push|rebase|rerere|revert|sendemail|sequence|stash|submodule|svn|tag|trailer|uploadarchive|uploadpack|user|web|browser|man|help|worktree|checkout|restore|switch|sparse|tar|bisect|interactive|scalar|replay|archive|daemon)\./,
  ],
  [
    "what a diff or log looks like",
    /^(?:diff\.(?:noprefix|mnemonicPrefix|autoRefreshIndex|guitool|tool|dirstat|statGraphWidth|renames|\w*\.(?:binary|wordRegex|xfuncname|algorithm)|<driver>\.(?:binary|wordRegex|xfuncname|algorithm|trustExitCode)|trustExitCode)|log\.\w+|blame\.(?!ignoreRevsFile)\w+|grep\.\w+|status\.\w+|showBranch\.\w+|column\.\w+|pretty\.\S+)$/,
  ],
  ["which key somebody signs with", /^(?:gpg\.(?:format|minTrustLevel)|user\.signingKey)$/],
  ["extensions that the format of the repository needs", /^extensions\./],
  ["only the user's and the system's count", /^(?:safe|trace2|fsmonitor|completion)\./],
];

describe("what git is told over its configuration", () => {
  const git = spoken();

  it("names every key of this git that sounds as if it could start or reach something", { skip: git === undefined }, () => {
    const told = new Set([...inertConfig.map(([key]) => key.toLowerCase()), ...inertFiles]);
    const open = (git ?? []).filter((key) => {
      const lower = key.toLowerCase();
      const isTold = told.has(lower) || Object.hasOwn(inertDrivers, lower.slice(lower.lastIndexOf(".") + 1));
      return suspicious.test(key) && !isTold && !harmless.some(([, keys]) => keys.test(key));
    });
    assert.deepEqual(open, []);
  });
});

function spoken(): string[] | undefined {
  try {
    return execFileSync("git", ["help", "--config"], { encoding: "utf8" })
      .split("\n")
      .filter((line) => /^[\w<>*]+\.\S+$/.test(line));
  } catch {
    return undefined; // no git, or one without its documentation
  }
}
