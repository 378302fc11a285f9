import type { Use } from "./command-files.ts";
import type { Program } from "./parsed-command.ts";
import { workFolders } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import type { BoxReach, Policy } from "./policy.ts";

type Command = { readonly policy: Policy; readonly programs: readonly Program[]; readonly uses: readonly Use[] };

/** What a command that runs in the box would touch outside of it, as far as its words tell. */
export function leavingBox({ policy, programs, uses }: Command, { writable, reaches }: BoxReach): string | undefined {
  const folders = [...workFolders({ ...policy.base, directories: policy.directories }), ...policy.readable, ...writable, "/tmp"];
  const changed = uses.find(
    ({ kind, target }) => kind === "edit" && target && !folders.some((folder) => isInside(folder, target.path)),
  );
  if (changed?.target) return `Changing ${changed.target.path}, outside the sandbox, needs permission`;
  const addresses = programs.flatMap(({ words }) => words.flatMap(({ text }) => addressIn(text) ?? []));
  const far = addresses.find((address) => !reaches(address));
  return far && `Reaching ${far.host}, outside the sandbox, needs permission`;
}

/** The address in a word, as curl and git take them: `https://host/…`, `git@host:path`. */
function addressIn(word: string): URL | undefined {
  const written = /\b(?:https?|ssh|git|ftps?|wss?):\/\/[^\s'"]+/.exec(word)?.[0];
  const short = /^[\w.-]+@([\w.-]+):(?!\/\/)/.exec(word)?.[1];
  const text = written ?? (short && `ssh://${short}`);
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}
