import { type Flag, type FlagName, flags } from "./flags.ts";

/** What is said about each flag. */
const flagHelp: Readonly<Record<FlagName, string>> = {
  print:
    "Run one prompt and exit (the default for a prompt). The next word is the prompt, unless it is exactly a flag; if it could be either, it is refused (use -p -- PROMPT)",
  prompt: "The prompt; - reads it from stdin",
  image: "Attach a picture (PNG, JPEG, GIF, WebP) to the prompt; may be repeated. A picture on stdin is recognised by itself",
  pdf: "Attach a PDF document to the prompt; may be repeated",
  "input-format":
    "text (stdin is a prompt), stream-json (each line of stdin is a message or a request that takes effect when it arrives)",
  "replay-user-messages": "With --input-format stream-json: echo each message when its turn begins",
  "disable-slash-commands": "Treat prompts that begin with a slash as plain text, and offer no skills",
  cwd: "Work in DIR instead of the current directory",
  "system-prompt": "Replace the system prompt",
  "system-prompt-file": "The same from a file",
  "append-system-prompt": "Append TEXT to the system prompt, or a text from the settings (preset:NAME)",
  "append-system-prompt-file": "The same from a file",
  "output-format":
    "text (the answer), json (one result object), stream-json (one JSON object per line as it happens), atif-jsonl (steps of an ATIF trajectory)",
  flavor: "Shape of json and stream-json: claude (Claude Code's, the default), caliban, robota",
  "include-partial-messages": "stream-json: also print the model's text as it is generated, in stream_event frames",
  "forward-subagent-text": "stream-json: also print the prompts of background subagents",
  "include-hook-events": "stream-json: also print frames for every hook that runs",
  verbose: "text: report progress on stderr even if it is not a terminal; json: print the array of all frames",
  "no-ci-report": "In GitHub Actions and GitLab: write no summary, outputs, annotations or folds",
  quiet: "No progress on stderr, only errors",
  model: "The model, by id or alias (sonnet, opus, haiku, gpt, gemini, …), or PROVIDER/MODEL",
  provider:
    "A provider, or a profile from your settings (see outrider providers list); scripted with --model FILE answers from a JSON list of replies",
  "fallback-model": "The model to use when the provider stays overloaded or unreachable, or has not the first; or several: a,b",
  effort: "How hard the model should think: minimal, low, medium, high, xhigh, max; the nearest level it supports is used",
  "max-thinking-tokens": "Thinking budget in tokens; 0 turns thinking off where the model allows it",
  thinking: "The same; adaptive lets the model decide, disabled turns it off",
  "max-tokens": "Maximum tokens per answer",
  temperature: "0 to 2",
  "json-schema": "The answer must fit this JSON Schema, else exit code 2; it is in structured_output of the result",
  "max-turns": "Stop with exit code 75 after N model calls; 0 means no limit",
  "max-requests":
    "Stop with exit code 75 after N model requests for one prompt, including those of summaries, hooks and subagents (2000)",
  "loop-note": "Warn the model when the same call has given the same result N times (3); 0 for never",
  "loop-stop": "Stop with exit code 76 when it has done so N times (6); 0 for never",
  "max-budget-usd": "Once this much is spent, stop before the next model call with exit code 137",
  "allow-unknown-price": "Allow --max-budget-usd with a model of unknown price, whose calls then count as free",
  deadline: "End the run after TIME (90s, 15m, 2h; a bare number is seconds), with a result and exit code 124",
  "background-wait":
    "How long to wait for background work after the last answer (default 10m for agents, 5s for commands). What is left is stopped, and the result says so",
  record: "Record the model's answers to FILE, without keys and without this machine's paths",
  replay: "Answer from a recording or a session instead of a model; exit code 65 if a request differs",
  "replay-lenient": "Report what differs and continue",
  "permission-mode":
    "plan (read only), default or manual (read; the rest by rule), acceptEdits or auto (also change files of the project), dontAsk (like default, never ask), sandboxed (also run anything inside the sandbox), bypassPermissions (everything)",
  allowedTools:
    'Rules for what may run without asking: Edit "Bash(npm test:*)" "Read(//etc/hosts)" "WebFetch(domain:example.org)"',
  allow:
    "Let builds, tests, checks and formatters run without asking: dev, or npm, cargo, python, … (outrider permissions presets shows the rules)",
  disallowedTools: "Rules for what may never run; a bare tool name removes the tool",
  tools: 'Offer only these built-in tools; "" for none, default for all',
  "permission-prompt-tool":
    "Who answers permission questions: stdio (the host, over the control protocol), or an MCP tool (mcp__server__tool)",
  "permission-prompts": "none: ask nobody, and deny at once what would need approval",
  "add-dir": "Another folder the agent may work in; may be repeated",
  "allow-network-reads": "Let commands that only read from the network (gh pr view, npm view, git ls-remote) run without a rule",
  sandbox:
    "What runs in a sandbox without network and home: auto (commands that only the mode allows, where bubblewrap works), require (all commands, or the run does not start), off (none)",
  "pass-env": "Pass this variable (NAME or NAME,NAME) to programs even if it looks like a secret or is a key for a model",
  "dangerously-skip-permissions": "Start in mode bypassPermissions: everything is allowed except what a rule denies",
  "allow-dangerously-skip-permissions": "Let the host switch to bypassPermissions later",
  "system-prompt-snapshot": "off: a resumed session gets the system prompt that this run asks for. It is always so here",
  "no-chrome": "Accepted from scripts written for Claude Code: there is no browser to leave out",
  settings: "Settings that override all files (outrider config shows the result)",
  "setting-sources": 'Which settings files count: user,project,local (the default), or "" for none',
  "trust-project": "For this run, let the project's own hooks, servers, variables and allow rules count",
  bare: "Use no hooks, servers, agents, instructions, language or style from files: the same prompt on every machine",
  init: "Run Setup hooks with the trigger init first",
  "init-only": "Run Setup and SessionStart hooks, and end without asking a model",
  maintenance: "Run Setup hooks with the trigger maintenance first",
  "mcp-config": 'MCP servers: {"mcpServers": {"name": {"command": …} or {"url": …}}}; may be repeated',
  "strict-mcp-config": "Use only the servers of --mcp-config",
  "mcp-timeout": "How long a server may take to connect (10s); after that the run continues without it",
  "require-mcp": "Do not run if a server does not connect",
  agents: 'Agents for the Task tool: {"name": {"description": …, "prompt": …, "tools": […]}}',
  agent: "Run as this agent: the conversation gets its prompt, tools and model",
  "await-initialize": "With --input-format stream-json: start no prompt before the host has sent initialize",
  trajectory: "Write an ATIF trajectory, complete after every step",
  report: "Write the run as one HTML page",
  "load-trajectory": "Start with the conversation of an ATIF trajectory",
  "atif-version": "Version of the trajectory (1.7)",
  "session-id": "Store the session under this new id",
  resume: "Continue a stored session (outrider sessions list)",
  continue: "Continue the latest session of this folder",
  "fork-session": "With --resume or --continue: continue in a copy under a new id; the original stays unchanged",
  "resume-session-at": "With --resume or --continue: go back to this event (its number, or the uuid of a frame); nothing is lost",
  name: "Give the session a name",
  worktree:
    "Work in a separate git worktree, a new one or the one with this name; it is kept if anything changed in it (outrider worktrees)",
  "no-session-persistence": "Do not store the session",
  debug: "Write every event of the session to stderr; a filter after it is accepted and ignored",
  "debug-file": "The same to a file",
  betas: "Beta features of Anthropic's API, separated by commas",
  "task-budget": "Anthropic's API: tell the model how many tokens it has for the task",
  "thinking-display": "Anthropic's API: whether the model's thinking is returned: summarized or omitted",
  "session-mirror":
    "With --input-format stream-json: also print each line of the copy in Claude Code's layout as a transcript_mirror frame",
  "project-config-root": "",
  "managed-settings":
    "Further restrictions: permissions.deny, permissions.ask, permissions.disableBypassPermissionsMode; all other keys are ignored",
  "plugin-dir":
    "Load the plugin in DIR, a folder or an archive, with its skills, commands, agents, hooks and servers; may be repeated",
  "plugin-dir-no-mcp": "The same without its MCP servers",
  "plugin-url": "Download a plugin (.zip, .tgz) for this run; append #sha256=HASH to refuse any other content",
  "resume-drops-turn":
    "With --resume-session-at: only if everything that is dropped belongs to this turn (the uuid of its prompt)",
  version: "Print the version",
  help: "Print this help",
};

export type DescribedFlag = Flag & { readonly help: string };

/** The flags that are offered: one that is refused is not. */
export const offeredFlags: readonly DescribedFlag[] = flags
  .map((flag): DescribedFlag => ({ ...flag, help: flagHelp[flag.name] }))
  .filter(({ refused }) => refused === undefined);
