/** What is known of the folder a session works in, when it begins. */
export type FolderFacts = {
  readonly git?: GitFacts | undefined;
  /** The kind of project, and its own commands. */
  readonly project?: string | undefined;
};

export type GitFacts =
  | { readonly type: "none" }
  | {
      readonly type: "repository";
      /** A branch, or a commit where none is checked out. */
      readonly head: string | undefined;
      /** The id of the commit that is checked out; undefined where there is none yet. */
      readonly commit?: string | undefined;
      /** As `git status --short` has it; undefined when that could not be told in time. */
      readonly changes: readonly string[] | undefined;
    };

export type EnvironmentFacts = FolderFacts & {
  readonly cwd: string;
  /** Folders beside it that belong to the work. */
  readonly folders?: readonly string[] | undefined;
  /** What commands are written for; absent where none can be run. */
  readonly shell?: string | undefined;
  readonly platform: string;
  readonly date: Date;
};

const shownChanges = 20;

/** The date is the day only, and the state of the repository that of the beginning: the same bytes over the whole session. */
export function describeEnvironment(facts: EnvironmentFacts): string {
  const { cwd, folders = [], git, project, shell, platform, date } = facts;
  return [
    "# Environment",
    `Working directory: ${oneLine(cwd)}`,
    ...(folders.length > 0 ? [`Further folders: ${folders.map(oneLine).join(", ")}`] : []),
    ...(git ? describeGit(git) : []),
    ...(project === undefined ? [] : [`Project: ${oneLine(project)}`]),
    ...(shell === undefined ? [] : [`Shell: ${shell}`]),
    `Platform: ${platform}`,
    `Date: ${date.toISOString().slice(0, 10)}`,
  ].join("\n");
}

/** The block of a prompt that was stored. */
export function storedEnvironment(system: string): string | undefined {
  return /^# Environment\n.+(?:\n.+)*/m.exec(system)?.[0];
}

function describeGit(git: GitFacts): string[] {
  if (git.type === "none") return ["Git: no repository"];
  const head = git.head === undefined ? "a repository" : git.head;
  if (git.changes === undefined) return [`Git: ${head}`];
  if (git.changes.length === 0) return [`Git: ${head}; nothing was changed when the session began`];
  const shown = git.changes.slice(0, shownChanges).map((line) => `  ${line.slice(0, 200)}`);
  const more = git.changes.length - shown.length;
  return [`Git: ${head}; changed before the session began:`, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
