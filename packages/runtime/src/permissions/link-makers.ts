import { splitGit } from "./git-commands.ts";
import type { Program } from "./parsed-command.ts";

/**
 * Where a program may put links, so that paths there lead elsewhere afterwards: at the files its words name, or anywhere.
 * Undefined: it makes none as far as is known.
 */
export function reachOfLinks({ name, words }: Program): "named" | "anywhere" | undefined {
  if (name === "mv" || name === "ln" || name === "rsync") return "named";
  if (name === "cp") return words.some(({ text }) => copyingLinks.test(text)) ? "named" : undefined;
  if (unpackers.has(name)) return "anywhere";
  const call = name === "git" ? splitGit(words.slice(1)) : undefined;
  return call && checksOut.test(call.subcommand) ? "anywhere" : undefined;
}

/** Changes files where its words say, and nothing else. */
export function isOrderly(name: string): boolean {
  return orderly.has(name);
}

const copyingLinks = /^-[^-]*[rRadPsl]|^--(?:rec|arch|no-d|sym|link|pres|copy)/;
const unpackers = new Set("tar bsdtar unzip 7z 7za cpio pax patch unrar jar".split(" "));
const checksOut =
  /^(?:checkout|switch|pull|merge|rebase|reset|restore|stash|apply|am|cherry-pick|revert|clone|worktree|submodule|read-tree|checkout-index)$/;
const orderly = new Set(
  "mv ln cp rsync install sed tee touch mkdir rm rmdir unlink chmod chown chgrp dd truncate shred sort".split(" "),
);
