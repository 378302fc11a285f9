import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isPermissionMode, type PermissionMode, RuntimeError, type SessionOptions } from "@outrider/runtime";
import { createGrants, type ResolvedSettings } from "@outrider/runtime/host";
import type { FlagValues } from "./flags.ts";

export type PermissionPlaces = {
  readonly home: string;
  readonly userHome: string;
  readonly root: string;
};

/** What may be done: flags over settings, and the user's own folder for answers that are remembered. */
export function permissionOptions(
  flags: FlagValues,
  resolved: ResolvedSettings,
  { home, userHome, root }: PermissionPlaces,
): Pick<SessionOptions, "permissionMode" | "allowedTools" | "disallowedTools" | "permissions"> {
  const { permissions } = resolved.settings;
  return {
    permissionMode: permissionMode(flags, resolved),
    ...(flags.allowedTools && { allowedTools: flags.allowedTools }),
    ...(flags.disallowedTools && { disallowedTools: flags.disallowedTools }),
    permissions: {
      allow: permissions.allow,
      ask: permissions.ask,
      deny: permissions.deny,
      root,
      additionalDirectories: [...permissions.additionalDirectories, ...(flags["add-dir"] ?? []).map(additionalDirectory)],
      networkReads: permissions.networkReads || Boolean(flags["allow-network-reads"]),
      grants: createGrants({ root, directory: join(home, "grants"), home: userHome }),
      mayBypass: mayBypass(flags) && !permissions.disableBypassPermissionsMode,
    },
  };
}

function mayBypass(flags: FlagValues): boolean {
  return Boolean(flags["dangerously-skip-permissions"] || flags["allow-dangerously-skip-permissions"]);
}

/** Bypassing permissions is never a matter of a file: it needs a flag. */
function permissionMode(flags: FlagValues, { settings: { permissions } }: ResolvedSettings): PermissionMode {
  const named =
    flags["permission-mode"] ?? (flags["dangerously-skip-permissions"] ? "bypassPermissions" : permissions.defaultMode);
  const mode = isPermissionMode(named) ? named : "default";
  if (mode !== "bypassPermissions") return mode;
  if (permissions.disableBypassPermissionsMode)
    throw new RuntimeError("config", "The settings do not allow to bypass permissions (disableBypassPermissionsMode)", {
      hint: "Allow what is needed with --allowedTools instead",
    });
  if (flags["permission-mode"] === undefined && !mayBypass(flags))
    throw new RuntimeError("usage", "Mode bypassPermissions must be asked for on the command line, not in a file", {
      hint: "Add --permission-mode bypassPermissions, or allow what is needed with --allowedTools",
    });
  return mode;
}

function additionalDirectory(path: string): string {
  const full = resolve(path);
  if (!statSync(full, { throwIfNoEntry: false })?.isDirectory())
    throw new RuntimeError("usage", `--add-dir: ${full} is no directory`);
  return realpathSync(full);
}

export function sandboxOptions(
  flags: FlagValues,
  { settings: { sandbox } }: ResolvedSettings,
  home: string,
): NonNullable<SessionOptions["sandbox"]> {
  const { processes, memoryMb, fileSizeMb } = sandbox.limits;
  const memoryFile = join(home, "sandbox-works.json");
  const megabyte = 1024 * 1024;
  const mode = flags.sandbox as "auto" | "require" | "off" | undefined; // its choices are the modes
  return {
    mode: mode ?? sandbox.mode,
    network: sandbox.network,
    allowWrite: [...sandbox.allowWrite, ...(flags["add-dir"] ?? []).map(additionalDirectory)],
    denyRead: sandbox.denyRead,
    ...(flags["no-session-persistence"] && !existsSync(memoryFile) ? {} : { memoryFile }),
    limits: {
      ...(processes !== undefined && { processes }),
      ...(memoryMb !== undefined && { memoryBytes: memoryMb * megabyte }),
      ...(fileSizeMb !== undefined && { fileBytes: fileSizeMb * megabyte }),
    },
  };
}
