/** One change to what the box sees of the file system. `source` is the place on the host; the same path when absent. */
export type Mount =
  /** An empty directory that lives as long as the box. */
  | { readonly type: "hide"; readonly path: string }
  /** A file nobody can read. */
  | { readonly type: "mask"; readonly path: string }
  | { readonly type: "read-only"; readonly path: string; readonly source?: string }
  | { readonly type: "writable"; readonly path: string; readonly source?: string };

export type BoxSetting = {
  /** One per path; the order does not matter. */
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  readonly shareNetwork: boolean;
  /** The agent is root. */
  readonly asRoot: boolean;
  /** The number under which it finds what the kernel is to ask before each system call. */
  readonly filter?: number | undefined;
  /** What the installed version can do. */
  readonly features: BubblewrapFeatures;
  readonly unset: readonly string[];
  readonly set: Readonly<Record<string, string>>;
  readonly command: readonly string[];
};

export type BubblewrapFeatures = { readonly tmpfsSize: boolean; readonly disableUserNamespaces: boolean };

/** Of each private directory that lives in memory. */
const hiddenSizeBytes = 1024 * 1024 * 1024;

/**
 * Kernel switches. They belong to uid 0 whatever its capabilities, so an agent that runs as root could turn them from inside
 * (`core_pattern` names a program the kernel runs outside of every box); bubblewrap itself leaves them writable.
 */
const kernelSwitches = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"];
/** Some of these count for one namespace only, and belong to whoever made it. */
const switchesOfOthers = ["sys"];

/** Is this the command line of bubblewrap as we start it? */
export function isBoxItself(line: string): boolean {
  return /^\S*bwrap --unshare-all (?:--share-net )?(?:--unshare-user --disable-userns )?--die-with-parent --new-session --cap-drop ALL /.test(
    line,
  );
}

/** The command line of bubblewrap. Pure: what exists and what is wanted was found out before. */
export function bubblewrapArguments(setting: BoxSetting): string[] {
  return [
    "--unshare-all",
    ...(setting.shareNetwork ? ["--share-net"] : []),
    ...(setting.features.disableUserNamespaces ? ["--unshare-user", "--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...(setting.filter === undefined ? [] : ["--seccomp", String(setting.filter)]),
    ...["--ro-bind", "/", "/"],
    ...["--proc", "/proc"],
    ...(setting.asRoot ? kernelSwitches : switchesOfOthers).flatMap((name) => [
      "--ro-bind-try",
      `/proc/${name}`,
      `/proc/${name}`,
    ]),
    ...["--dev", "/dev"],
    ...parentsFirst(setting.mounts).flatMap((mount) => mountArguments(mount, setting.features)),
    ...setting.unset.flatMap((name) => ["--unsetenv", name]),
    ...Object.entries(setting.set).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", setting.cwd],
    "--",
    ...setting.command,
  ];
}

/** A mount covers what was mounted below its path before. */
function parentsFirst(mounts: readonly Mount[]): Mount[] {
  const depth = ({ path }: Mount): number => path.split("/").length;
  return [...mounts].sort((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1));
}

function mountArguments(mount: Mount, features: BubblewrapFeatures): string[] {
  switch (mount.type) {
    case "hide":
      return [...(features.tmpfsSize ? ["--size", String(hiddenSizeBytes)] : []), "--tmpfs", mount.path];
    case "mask":
      return ["--ro-bind", "/dev/null", mount.path];
    case "read-only":
      return ["--ro-bind", mount.source ?? mount.path, mount.path];
    case "writable":
      return ["--bind", mount.source ?? mount.path, mount.path];
  }
}
