import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGrants } from "../permissions/grants.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { PermissionOptions } from "../session/session-policy.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import type { SandboxOptions } from "../workspace/sandbox.ts";
import { existingFolder } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

type Places = {
  readonly around: Surroundings;
  readonly root: string;
  /** The top of another checkout of the project, in which the work is done: rules are about its files. */
  readonly worktree: string | undefined;
  readonly bare: boolean | undefined;
};

/** What may be done: the request over settings, and the user's own folder for answers that are remembered. */
export function permissionOptions(
  request: Pick<SessionOptions, "permissionMode" | "permissions">,
  resolved: ResolvedSettings,
  { around, root, worktree, bare }: Places,
): Pick<SessionOptions, "permissionMode" | "permissions"> {
  const { permissions: written } = resolved.settings;
  const { permissions: own } = request;
  return {
    permissionMode: permissionMode(request, resolved),
    permissions: {
      allow: [...written.allow, ...(own?.allow ?? [])],
      ask: [...written.ask, ...(own?.ask ?? [])],
      deny: [...written.deny, ...(own?.deny ?? [])],
      root: worktree ?? root,
      otherRoot: worktree && root,
      additionalDirectories: [...written.additionalDirectories, ...ownDirectories(own, around)],
      ...(own?.runOutside && { runOutside: own.runOutside }),
      networkReads: written.networkReads || Boolean(own?.networkReads),
      grants:
        own?.grants ??
        createGrants({
          root: worktree ?? root,
          home: around.userHome,
          ...(!bare && { directory: join(around.outriderHome, "grants") }),
        }),
      mayBypass: Boolean(own?.mayBypass) && !written.disableBypassPermissionsMode,
    },
  };
}

/** Bypassing permissions is never a matter of a file: somebody must have asked for it. */
function permissionMode(
  request: Pick<SessionOptions, "permissionMode" | "permissions">,
  { settings: { permissions } }: ResolvedSettings,
): PermissionMode {
  const mode = request.permissionMode ?? permissions.defaultMode ?? "default";
  if (mode !== "bypassPermissions") return mode;
  if (permissions.disableBypassPermissionsMode)
    throw new RuntimeError("config", "The settings do not allow to bypass permissions (disableBypassPermissionsMode)", {
      hint: "Allow what is needed instead (allowedTools, --allowedTools)",
    });
  if (request.permissionMode === undefined && !request.permissions?.mayBypass)
    throw new RuntimeError("usage", "Mode bypassPermissions must be asked for by whoever starts the session, not in a file", {
      hint: "Ask for it (permissionMode, --permission-mode), or allow what is needed (allowedTools, --allowedTools)",
    });
  return mode;
}

function ownDirectories(permissions: PermissionOptions | undefined, { cwd }: Surroundings): string[] {
  return (permissions?.additionalDirectories ?? []).map((path) => existingFolder("additionalDirectories", resolve(cwd, path)));
}

/** The box, as the settings have it. */
export function sandboxOptions(
  request: Pick<SessionRequest, "sandboxMode" | "persistent" | "bare" | "options">,
  { settings: { sandbox } }: Pick<ResolvedSettings, "settings">,
  around: Surroundings,
): SandboxOptions {
  const { processes, memoryMb, fileSizeMb } = sandbox.limits;
  const memoryFile = join(around.outriderHome, "sandbox-works.json");
  return {
    mode: request.sandboxMode ?? sandbox.mode,
    network: sandbox.network,
    allowWrite: [...sandbox.allowWrite, ...ownDirectories(request.options?.permissions, around)],
    denyRead: sandbox.denyRead,
    denyWrite: sandbox.denyWrite,
    memoryFile: request.bare || (request.persistent === false && !existsSync(memoryFile)) ? undefined : memoryFile,
    limits: { processes, memoryBytes: inBytes(memoryMb), fileBytes: inBytes(fileSizeMb) },
  };
}

function inBytes(megabytes: number | undefined): number | undefined {
  return megabytes === undefined ? undefined : megabytes * 1024 * 1024;
}
