/**
 * What git is told over whatever a repository, the user or the system says, so that it starts no program, sends nothing and
 * writes nothing while it only looks. Sorted by what would happen otherwise.
 */
export const inertConfig: readonly (readonly [key: string, value: string])[] = [
  // Programs that looking starts.
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["diff.external", "false"],
  ["interactive.diffFilter", "cat"],
  ["log.showSignature", "false"],
  ["gpg.program", "false"],
  ["gpg.openpgp.program", "false"],
  ["gpg.x509.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.ssh.defaultKeyCommand", "false"],
  // Programs of what is more than looking: a second wall.
  ["core.editor", "false"],
  ["sequence.editor", "false"],
  ["core.sshCommand", "false"],
  ["core.askPass", "false"],
  ["core.gitProxy", "false"],
  ["core.alternateRefsCommand", "false"],
  ["credential.helper", ""],
  ["uploadpack.packObjectsHook", "false"],
  ["help.autocorrect", "0"],
  // A submodule has a configuration of its own, which nobody has looked at.
  ["diff.ignoreSubmodules", "dirty"],
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  // A repository that somebody left lying in a folder, and objects that are only elsewhere.
  ["safe.bareRepository", "explicit"],
  ["protocol.allow", "never"],
  // Writes.
  ["http.saveCookies", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/** Files that git reads and whose lines it would show: empty where the repository names them, as the user said where the user does. */
export const inertFiles: readonly string[] = [
  "core.excludesfile",
  "core.attributesfile",
  "mailmap.file",
  "diff.orderfile",
  "commit.template",
  "format.signaturefile",
  "gpg.ssh.allowedsignersfile",
  "gpg.ssh.revocationfile",
];

/** Keys with a name in the middle, by their last part: those a repository has are found by asking git, and set to this. */
export const inertDrivers: Readonly<Record<string, string>> = {
  clean: "",
  smudge: "",
  process: "",
  textconv: "cat",
  cachetextconv: "false",
  command: "false",
  cmd: "false",
  program: "false",
  helper: "",
  driver: "false",
  uploadpack: "false",
  receivepack: "false",
  savecookies: "false",
  cookiefile: "",
};

/** Variables that go over configuration, or have no key. */
export const inertVariables: Readonly<Record<string, string>> = {
  GIT_PAGER: "cat",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  GIT_SSH_COMMAND: "false",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  GIT_PROXY_COMMAND: "false",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
};

/** Unset: each would go over what is set here. */
export const inertUnset: readonly string[] = ["GIT_CONFIG_PARAMETERS", "GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_DIFF_OPTS", "CDPATH"];
