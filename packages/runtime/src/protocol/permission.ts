/** What may happen without asking: `plan` only looks, `default` also does nothing else, `acceptEdits` changes files, `dontAsk` denies what `default` would ask about, `sandboxed` whatever the sandbox contains, `bypassPermissions` everything. */
export type PermissionMode = "plan" | "default" | "acceptEdits" | "dontAsk" | "sandboxed" | "bypassPermissions";

export const permissionModes: readonly PermissionMode[] = [
  "plan",
  "default",
  "acceptEdits",
  "dontAsk",
  "sandboxed",
  "bypassPermissions",
];

const looseness: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  dontAsk: 1,
  default: 2,
  acceptEdits: 3,
  sandboxed: 4,
  bypassPermissions: 5,
};

/** Does more happen unasked in this mode than in the other one? */
export function isLooserMode(mode: PermissionMode, than: PermissionMode): boolean {
  return looseness[mode] > looseness[than];
}

export function isPermissionMode(value: unknown): value is PermissionMode {
  return (permissionModes as readonly unknown[]).includes(value);
}

/** Also Claude Code's own words: `manual` is its default, and what `auto` leaves to a judging model is asked about here. */
export function toPermissionMode(word: unknown): PermissionMode | undefined {
  if (word === "manual") return "default";
  if (word === "auto") return "acceptEdits";
  return isPermissionMode(word) ? word : undefined;
}

/** Where the `git` of a command is one that obeys no repository: in all that the command starts, or in its own shell only. */
export type InertGit = {
  /** Holds that `git`; absent where all git of the command is what a rule names. */
  readonly folder?: string;
  readonly reach: "everything" | "shell";
  /** A rule names git: that one obeys the repository in a `.git`, and no folder that only looks like one. */
  readonly ruled?: true;
};
