/**
 * Flags of Claude Code that are nothing here, by how they are written: why, and what to do instead. A script that was written for it
 * is told so before anything runs; no flag is taken and then ignored.
 */
export const refusedFlags: Readonly<Record<string, string>> = {
  "--append-subagent-system-prompt": "give agents a prompt of their own with --agents",
  "--append-subagent-system-prompt-file": "give agents a prompt of their own with --agents",
  "--autocompact": "the setting compaction.threshold says when a conversation is summarised, or that it is not",
  "--await-claim": "there is no service here that hands out runs",
  "--brief": "say in the prompt, or with --append-system-prompt, how long answers should be",
  "--channels": "messages come on stdin with --input-format stream-json",
  "--enable-auth-status": "nobody logs in here; outrider providers test checks the key",
  "--exclude-dynamic-system-prompt-sections": "--system-prompt replaces the whole system prompt",
  "--file": "name files in the prompt, or give their text on stdin",
  "--from-pr": "sessions are not tied to pull requests; --resume takes their id or name",
  "--include-tool-dispatch-events": "the frames of --flavor caliban always say when a tool was started and ended",
  "--managed-settings-in-initialize": "a host cannot set a policy over the user's; --settings adds settings",
  "--no-auto-print": "there is no terminal interface to be left out: every run is headless",
  "--parent-session-id": "a subagent is part of its session; --fork-session copies one",
  "--plan-mode-instructions": "--append-system-prompt says how to plan",
  "--prompt-suggestions": "nothing is suggested to prompt next",
  "--restricted": "--permission-mode, --tools and --sandbox say what may be done",
  "--rewind-files": "outrider checkpoints restore puts files back",
  "--sdk-url": "hosts talk over stdin and stdout",
  "--workload": "runs have no classes; --name names them",
};
