import { RuntimeError } from "../protocol/errors.ts";

/** How a program checks changes to its own source while it runs: what to do, in which order. The commands are the project's own. */
export type SelfHostingVerificationOptions = {
  readonly changedFiles: readonly string[];
  /** Each is checked with every `packageVerify` command. */
  readonly packageScopes?: readonly string[];
  readonly baseRef: string;
  /** Without them the plan names what is to be checked (test, typecheck and build of each scope, and the whole) and leaves the commands open. */
  readonly commandTemplates?: SelfHostingCommandTemplates;
};

export type SelfHostingCommandTemplates = {
  /** `{scope}` in the template stands for a package scope. */
  readonly packageVerify: readonly { readonly name: string; readonly template: string }[];
  /** `{baseRef}` in the template stands for the commit or branch to compare with. */
  readonly repoVerify?: { readonly description: string; readonly template: string };
};

export type SelfHostingStepKind = "checkpoint" | "edit" | "handoff" | "verify" | "rollback";

export type SelfHostingStep = {
  readonly id: string;
  readonly kind: SelfHostingStepKind;
  readonly description: string;
  /**
   * Run in a child process against the files on disk; the running process keeps the modules it has loaded.
   * A `verify` step without one has not been given a template: the runner of the plan knows the command of the project.
   */
  readonly command?: string;
};

export type SelfHostingVerificationPlan = {
  readonly changedFiles: readonly string[];
  readonly packageScopes: readonly string[];
  readonly baseRef: string;
  readonly steps: readonly SelfHostingStep[];
};

export type SelfHostingLoopState =
  | "idle"
  | "checkpointed"
  | "editing"
  | "verifying"
  | "passed"
  | "failed"
  | "rolled_back"
  | "cancelled";

export type SelfHostingLoopEvent =
  | "checkpoint_created"
  | "edits_started"
  | "edits_applied"
  | "verify_passed"
  | "verify_failed"
  | "rollback_completed"
  | "cancelled";

/** Pure: writes, runs and restores nothing. */
export function planSelfHostingVerification(options: SelfHostingVerificationOptions): SelfHostingVerificationPlan {
  const { changedFiles, packageScopes = [], baseRef, commandTemplates } = options;
  if (changedFiles.length === 0) throw new RuntimeError("usage", "Self-hosting verification requires at least one changed file.");
  const scopes = [...new Set(packageScopes)];
  const { packageVerify, repoVerify } = commandTemplates ?? openChecks;
  const steps: SelfHostingStep[] = [
    { id: "checkpoint", kind: "checkpoint", description: "Keep what the files hold before they change." },
    { id: "atomic-edit", kind: "edit", description: `Change ${countOf(changedFiles.length, "file")}, each whole or not at all.` },
    { id: "handoff", kind: "handoff", description: "Check the new files in child processes; this process stays as it is." },
    ...scopes.flatMap((scope) =>
      packageVerify.map(({ name, template }) => ({
        id: `package-${name}:${scope}`,
        kind: "verify" as const,
        description: `${name} of ${scope}`,
        ...(template !== undefined && { command: fill(template, "{scope}", scope) }),
      })),
    ),
    ...(repoVerify
      ? [
          {
            id: "repo-verify",
            kind: "verify" as const,
            description: repoVerify.description,
            ...(repoVerify.template !== undefined && { command: fill(repoVerify.template, "{baseRef}", baseRef) }),
          },
        ]
      : []),
    { id: "rollback-on-failure", kind: "rollback", description: "Put the kept files back when a check fails." },
  ];
  return { changedFiles: [...changedFiles], packageScopes: scopes, baseRef, steps };
}

/** What is to be checked where nobody has said how. */
const openChecks: {
  readonly packageVerify: readonly { readonly name: string; readonly template?: string }[];
  readonly repoVerify?: { readonly description: string; readonly template?: string };
} = {
  packageVerify: [{ name: "test" }, { name: "typecheck" }, { name: "build" }],
  repoVerify: { description: "the whole repository" },
};

const transitions: Readonly<Record<SelfHostingLoopState, Readonly<Partial<Record<SelfHostingLoopEvent, SelfHostingLoopState>>>>> =
  {
    idle: { checkpoint_created: "checkpointed", cancelled: "cancelled" },
    checkpointed: { edits_started: "editing", cancelled: "cancelled" },
    editing: { edits_applied: "verifying", verify_failed: "failed", cancelled: "cancelled" },
    verifying: { verify_passed: "passed", verify_failed: "failed", cancelled: "cancelled" },
    passed: {},
    failed: { rollback_completed: "rolled_back", cancelled: "cancelled" },
    rolled_back: {},
    cancelled: {},
  };

export function transitionSelfHostingLoop(state: SelfHostingLoopState, event: SelfHostingLoopEvent): SelfHostingLoopState {
  const next = transitions[state][event];
  if (!next) throw new RuntimeError("usage", `Invalid self-hosting loop transition: ${state} -> ${event}`);
  return next;
}

/** The value as one word of the shell, whatever is in it. */
function fill(template: string, placeholder: string, value: string): string {
  const word = /^[\w@%+=:,./-]+$/.test(value) && !value.startsWith("-") ? value : `'${value.replaceAll("'", "'\\''")}'`;
  return template.split(placeholder).join(word);
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
