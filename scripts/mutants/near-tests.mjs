// Which tests are asked about the mutants of a folder: its own, and those that use it most. `--all` asks every test.
const near = {
  journal: [
    "session/guarantees",
    "session/files/rewound",
    "session/interactive-session",
    "session/past/project-session",
    "security-cases/session",
  ],
  checkpoints: [
    "session/files/edit-checkpoints",
    "session/files/reversible",
    "session/files/rewound",
    "security-cases/checkpoint",
  ],
  settings: ["security-cases/trust", "security-cases/secret", "security-cases/permission", "session/session-policy"],
  hooks: ["session/hook", "engine/judge-call", "security-cases/hook", "test/hooks-docs"],
  permissions: [
    ...["attacks", "cases", "commands", "deny-effects", "everyday", "git-folders", "looking", "rules"].map(
      (name) => `test/permissions-${name}`,
    ),
    "security-cases/permission",
    "test/search-rules",
    "engine/judge-call",
  ],
  context: ["session/prompts/session-compaction", "session/prompts/session-commands", "session/bounded-requests"],
  engine: ["src/session/", "test/border/", "security-cases/permission", "security-cases/hook", "security-cases/resource"],
  session: [
    "engine/turn",
    "live/host-tools",
    "live/control-requests",
    "test/commands",
    "test/border/",
    "security-cases/session",
    "security-cases/resource",
  ],
  tools: ["test/border/", "test/search-rules", "security-cases/mcp", "security-cases/web-fetch", "security-cases/resource"],
  workspace: ["test/sandbox", "test/path-races", "test/inert-git", "security-cases/sandbox", "tools/builtin/bash"],
  "transports/live": ["security-cases/display"],
  util: [
    ...["session/events/held-deltas", "session/events/redacted-events", "session/masked-requests", "session/nothing-altered"],
    ...["settings/hide-secrets", "workspace/environment", "security-cases/secret"],
  ],
};

/** A name that no test has any more would ask nobody, and say nothing of it. */
export function checkNames(tests) {
  const names = Object.values(near).flat();
  const gone = names.filter((name) => !tests.some((test) => test.includes(name)));
  if (gone.length > 0) throw new Error(`scripts/mutants/near-tests.mjs names tests that are not there: ${gone.join(", ")}`);
}

export function isNear(test, folder) {
  if (test.startsWith(`packages/runtime/src/${folder}/`)) return true;
  return near[folder] === undefined || near[folder].some((part) => test.includes(part));
}

/** Tests that start no program of their own bundle and count no time, so that one process can run them for many mutants. */
export function isQuick(test, text) {
  return !/(?:path-races|sandbox-)/.test(test) && !/import\.meta|process\.argv\[1\]|new Worker\(|\bfork\(/.test(text);
}

/** Tests of built packages, whose bundles hold no mutants, and tests of what a bundle loads. */
export function canHoldMutants(test) {
  return !/^(test\/(e2e|contract|agent-sdk|atif|wires)\/|integrations|examples|packages\/cli)|startup|installed|exports\.test/.test(
    test,
  );
}
