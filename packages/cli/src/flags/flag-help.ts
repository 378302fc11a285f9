import { type Flag, type FlagName, flags } from "./flags.ts";

/** What is said about each flag. */
const flagHelp: Readonly<Record<FlagName, string>> = {
  print:
    "Run one prompt and exit; that is what a prompt does anyway. The next word is the prompt, unless it is exactly a flag; one that could be either is refused (-p -- PROMPT)",
  prompt: "The prompt, as a flag; - reads it from stdin",
  image:
    "Show the model this picture (PNG, JPEG, GIF, WebP) with the prompt; may be given several times. One on stdin is known by its bytes",
  pdf: "Give the model this PDF document with the prompt; may be given several times",
  "input-format":
    "text (stdin is a prompt), stream-json (each line of stdin is a message or a request, and acts when it arrives)",
  "replay-user-messages": "With --input-format stream-json: write each message back when its turn comes",
  "disable-slash-commands": "A prompt that begins with a slash is a prompt, and there are no skills",
  cwd: "Work in DIR instead of the current directory",
  "system-prompt": "Replace the system prompt",
  "system-prompt-file": "The same from a file",
  "append-system-prompt": "Add TEXT to the system prompt, or a text of the settings (preset:NAME)",
  "append-system-prompt-file": "The same from a file",
  "output-format":
    "text (the answer), json (one result object), stream-json (one JSON object per line as it happens), atif-jsonl (steps of an ATIF trajectory)",
  flavor: "Whose shapes json and stream-json have: claude (Claude Code's, the default), caliban, robota",
  "include-partial-messages": "stream-json: the model's words while they come, as stream_event frames",
  "forward-subagent-text": "stream-json: also the prompts that subagents in the background are given",
  "include-hook-events": "stream-json: frames for every run of a hook",
  verbose: "text: say on stderr what happens, also when it is no terminal; json: the array of all frames",
  "no-ci-report": "In GitHub Actions and GitLab: no summary, outputs, annotations and folds",
  quiet: "No progress on stderr, only errors",
  model: "The model to ask, by its id or by a word (sonnet, opus, haiku, gpt, gemini, …); PROVIDER/MODEL names both",
  provider:
    "A provider or a profile of your settings (outrider providers list); scripted with --model FILE answers from a JSON list of replies",
  "fallback-model": "Ask this one when the provider stays overloaded or out of reach",
  effort: "How hard the model should think: minimal, low, medium, high, xhigh, max; the nearest that it knows",
  "max-thinking-tokens": "Let the model think with up to this many tokens; 0 keeps it from thinking, where that can be",
  thinking: "The same; adaptive or disabled leave it to the model, or off",
  "max-tokens": "Tokens of one answer",
  temperature: "0 to 2",
  "json-schema": "The answer must fit this JSON Schema; it is in structured_output of the result, or exit code 2",
  "max-turns": "Ask the model at most N times, then stop with exit code 75; 0 is no limit",
  "max-requests":
    "At most N model requests for one prompt in all, with those of summaries, hooks and subagents (2000), then exit code 75",
  "loop-note": "Tell the model when the same call has had the same result N times (3); 0 for never",
  "loop-stop": "Stop with exit code 76 when it has had it N times (6); 0 for never",
  "max-budget-usd": "Stop before the next model call once more than this is spent, with exit code 137",
  "allow-unknown-price": "Keep a budget although the price of the model is not known",
  deadline: "End the run after TIME (90s, 15m, 2h; a number alone is seconds), with a result and exit code 124",
  "background-wait":
    "How long a run waits for what works in the background after its last answer; 10m for agents and 5s for commands unless given. What is left is stopped, and the result says so",
  record: "Write the model's answers to FILE, free of keys and of this machine's paths",
  replay: "Answer from a recording or a session instead of a model; exit code 65 when a request differs",
  "replay-lenient": "Say what differs and go on",
  "permission-mode":
    "plan (look only), default or manual (look; the rest by rule), acceptEdits or auto (also change files of the project), dontAsk (as default, never ask), sandboxed (also run what the sandbox contains), bypassPermissions (everything)",
  allowedTools: 'What may run without asking: Edit "Bash(npm test:*)" "Read(//etc/hosts)" "WebFetch(domain:example.org)"',
  allow:
    "Building, testing, checking and formatting run without asking: dev, or npm, cargo, python, … (outrider permissions presets shows the rules)",
  disallowedTools: "What may never run; a bare tool name takes the tool away",
  tools: 'Offer only these built-in tools; "" for none, default for all',
  "permission-prompt-tool":
    "Who decides what would be asked: stdio (the host, over the control protocol), or an MCP tool (mcp__server__tool)",
  "permission-prompts": "none: nobody is asked, and what would be asked is denied at once",
  "add-dir": "More folders that belong to the work; may be given several times",
  "allow-network-reads": "Commands that only ask others on the network (gh pr view, npm view, git ls-remote) run without a rule",
  sandbox:
    "What runs in a box without network and home: auto (commands that only the mode allows, where bubblewrap works), require (all, or nothing runs), off (none)",
  "pass-env": "Programs get this variable (NAME or NAME,NAME) although it looks like a secret or is a key of a model",
  "dangerously-skip-permissions": "Start in mode bypassPermissions: everything is allowed but what a rule denies",
  "allow-dangerously-skip-permissions": "Let the host change to bypassPermissions later",
  settings: "Settings over those of all files (outrider config shows what holds)",
  "setting-sources": 'Which files count: user,project,local (the default), or "" for none',
  "trust-project": "For this run, let the project's own hooks, servers, variables and allow rules count",
  bare: "No hooks, servers, agents, instructions, language or style of files: the same prompt on every machine",
  "mcp-config": 'MCP servers: {"mcpServers": {"name": {"command": …} or {"url": …}}}; may be given several times',
  "strict-mcp-config": "Only the servers of --mcp-config",
  "mcp-timeout": "How long a server may take to connect (10s); the run goes on without it then",
  "require-mcp": "Do not run when a server does not connect",
  agents: 'Agents for the Task tool: {"name": {"description": …, "prompt": …, "tools": […]}}',
  agent: "Be one of the agents: its prompt, tools and model are those of the conversation",
  "await-initialize": "With --input-format stream-json: begin no prompt before the host has sent initialize",
  trajectory: "Write an ATIF trajectory, complete after every step",
  report: "Write the run as one HTML page to look at",
  "load-trajectory": "Begin with the conversation of an ATIF trajectory",
  "atif-version": "Of the trajectory: 1.7 by default",
  "session-id": "Store the session under this new id",
  resume: "Go on with a stored session (outrider sessions list)",
  continue: "Go on with the latest session of this folder",
  "fork-session": "With --resume or --continue: in a copy under a new id, the original stays as it is",
  "resume-session-at": "With --resume or --continue: go back to this event (its number, or the uuid of a frame); nothing is lost",
  name: "Give the session a name",
  worktree:
    "Work in a git worktree of its own, a new one or that of this name; it stays if something was done in it (outrider worktrees)",
  "no-session-persistence": "Keep no journal on disk",
  debug: "Write every event of the session to stderr; a filter behind it leaves nothing out",
  "debug-file": "The same to a file",
  betas: "Beta features of Anthropic's API, separated by commas",
  "task-budget": "Anthropic's API: tell the model how many tokens it has for the task",
  "thinking-display": "Anthropic's API: whether what the model thinks is sent: summarized or omitted",
  "session-mirror":
    "With --input-format stream-json: also write each line of the copy in Claude Code's layout as a transcript_mirror frame",
  "project-config-root": "",
  "managed-settings":
    "What may be done less: permissions.deny, permissions.ask, permissions.disableBypassPermissionsMode; nothing else counts",
  "plugin-dir":
    "Load the plugin in DIR, a folder or an archive: its skills, commands, agents, hooks and servers count; may be given several times",
  "plugin-dir-no-mcp": "The same without its MCP servers",
  "plugin-url": "Fetch a plugin (.zip, .tgz) for this run; #sha256=HASH behind it refuses any other content",
  "resume-drops-turn":
    "With --resume-session-at: only if everything that is left behind belongs to this turn (the uuid of its prompt)",
  version: "Print the version",
  help: "Print this help",
};

export type DescribedFlag = Flag & { readonly help: string };

/** The flags that are offered: one that is refused is not. */
export const offeredFlags: readonly DescribedFlag[] = flags
  .map((flag): DescribedFlag => ({ ...flag, help: flagHelp[flag.name] }))
  .filter(({ refused }) => refused === undefined);
