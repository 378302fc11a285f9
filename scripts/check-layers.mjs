// Which folder may import which. An allow-list: a folder or an edge that is not written here is an error.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const LAYERS = {
  // folder: may import these folders (written above it), and these modules
  util: { folders: [], modules: ["node:", "yaml"] },
  protocol: { folders: ["util"], modules: [] },
  model: { folders: ["util", "protocol"], modules: ["node:", "eventsource-parser"] },
  workspace: { folders: ["util", "protocol"], modules: ["node:"] },
  permissions: { folders: ["util", "protocol"], modules: ["node:fs", "node:path", "unbash"] },
  hooks: { folders: ["util", "protocol", "workspace", "permissions"], modules: [] },
  journal: { folders: ["util", "protocol"], modules: ["node:"] },
  checkpoints: { folders: ["util", "protocol", "journal"], modules: ["node:"] },
  verification: { folders: ["protocol"], modules: [] },
  context: { folders: ["util", "protocol", "model", "workspace", "journal"], modules: ["node:"] },
  tasks: { folders: ["util", "protocol", "workspace", "permissions", "context"], modules: ["node:", "croner"] },
  tools: {
    folders: ["util", "protocol", "workspace", "tasks"],
    modules: [
      "node:",
      "@cfworker/json-schema",
      "@modelcontextprotocol/client",
      "@vscode/ripgrep",
      "ignore",
      "picomatch",
      "unbash",
    ],
  },
  commands: { folders: ["util", "protocol", "checkpoints", "context"], modules: ["node:fs", "node:path"] },
  engine: {
    folders: ["util", "protocol", "model", "workspace", "permissions", "hooks", "context", "tasks", "tools"],
    modules: [],
  },
  session: {
    folders: [
      "util",
      "protocol",
      "model",
      "workspace",
      "permissions",
      "hooks",
      "journal",
      "checkpoints",
      "context",
      "tasks",
      "tools",
      "commands",
      "engine",
    ],
    modules: ["node:fs", "node:path"],
  },
  settings: { folders: ["util", "protocol", "model", "permissions"], modules: ["node:"] },
  plugins: {
    folders: ["util", "protocol", "workspace", "permissions", "hooks", "journal", "tasks", "tools", "commands"],
    modules: ["node:"],
  },
  traces: { folders: ["util", "protocol", "model"], modules: ["node:"] },
  hosting: {
    folders: [
      "util",
      "protocol",
      "model",
      "workspace",
      "permissions",
      "hooks",
      "journal",
      "checkpoints",
      "context",
      "tasks",
      "tools",
      "commands",
      "session",
      "settings",
      "plugins",
      "traces",
    ],
    modules: ["node:"],
  },
  transports: {
    folders: [
      "util",
      "protocol",
      "model",
      "permissions",
      "hooks",
      "journal",
      "tools",
      "commands",
      "engine",
      "session",
      "hosting",
    ],
    modules: [
      "node:",
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/server",
      "@modelcontextprotocol/server/stdio",
      "ws",
    ],
  },
  testing: { folders: ["util", "protocol", "model", "workspace", "journal"], modules: ["node:"] },
  exports: {
    folders: [
      "util",
      "protocol",
      "model",
      "workspace",
      "permissions",
      "hooks",
      "journal",
      "checkpoints",
      "verification",
      "context",
      "tasks",
      "tools",
      "commands",
      "engine",
      "session",
      "settings",
      "plugins",
      "traces",
      "hosting",
      "transports",
      "testing",
    ],
    modules: [],
  },
};

// Who may ask a model, and how it comes that the request is counted. Whatever else asks one could ask for ever.
const ASKERS = {
  "model/request-ledger.ts": "asks the ledger first; every other place of a session is given what it makes of a provider",
  "engine/turn.ts": "a CountedProvider",
  "engine/open-hooks.ts": "a CountedProvider",
  "context/summarize.ts": "a CountedProvider",
  "session/subagents/shared-budget.ts": "wraps a CountedProvider",
  "model/fallback.ts": "wraps a provider",
  "model/replay.ts": "wraps a provider",
  "model/sendable/sendable-provider.ts": "wraps a provider",
  "model/providers/create-provider.ts": "makes a provider",
  "settings/profile-key.ts": "wraps a provider",
  "hosting/key-helper.ts": "wraps a provider",
  "model/providers/probe.ts": "one request of `outrider providers test`",
  "transports/run-headless/agent-run.ts": "an agent of the caller's, with a ceiling of its own",
};

// Who may open a session. Everybody else asks `hosting/`, so that a rule which is added there holds for every front end.
const OPENERS = {
  "hosting/create-agent.ts": "the published class, which plans",
  "hosting/open-session.ts": "a plan, with its servers",
  "hosting/query.ts": "the published class, which plans",
  "session/subagents/create-subagent-session.ts": "a session of a subagent, narrowed from the options of its parent",
};

// Who may say that a value is masked, or that a call is live, though its type does not; everybody else gets one from these.
const MARKERS = {
  "util/redact.ts": "hides secrets: the only place where a mask is made",
  "session/events/held-deltas.ts": "deltas the redactor found plain, or whose text it gave",
  "session/events/shown-outcome.ts": "outcomes whose parts the redactor gave",
  "journal/transcript.ts": "messages of events that the hub masked",
  "engine/turn.ts": "messages made of masked parts",
  "context/summarize.ts": "questions made of masked messages and our own words",
  "engine/live-call.ts": "the calls of an answer that has just come",
};

// Who may look at the environment, the command line or the home folder of the process. Everybody else is given what it needs.
const READERS = {
  "hosting/surroundings.ts": "takes them once, for a session and all it starts",
  "session/create-session.ts": "for sessions that are opened without a plan",
  "session/interactive-session.ts": "secrets to mask before the session is open",
  "session/events/event-hub.ts": "secrets to mask where nobody gave a redactor",
  "settings/trust.ts": "the home folder is never a project",
  "settings/paths.ts": "where the user's files are, for programs that ask",
  "transports/atif/read/load-trajectory.ts": "secrets to mask in a conversation from elsewhere",
  "transports/sdk-sessions/import-session.ts": "secrets to mask in a conversation from elsewhere",
  "journal/lock-owner.ts": "for the program that tells when a process started",
};

// Who may know a tool by its name. Everybody else asks the tool for its facts, so that a tool of a program is treated like our own.
const NAMERS = {
  "permissions/rules.ts": "what rules call tools, and the other names they have for them",
  "permissions/lint-rule.ts": "the grammar of rules",
  "permissions/judge-case.ts": "cases are written in the words of rules",
  "tasks/agent-definition.ts": "what built-in agents go without, in the words of rules",
  "hooks/run.ts": "what matchers of hooks call tools",
  "hooks/moments.ts": "what inputs of hooks call tools",
  "session/files/sandboxed-mode.ts": "a Read rule is what hides files from a box",
  "checkpoints/reversible-execution.ts": "a published function that is asked by name, for tools without facts",
  "tools/tool-use-result.ts": "Claude's frames and hooks have a shape for each tool",
  "testing/store-conformance.ts": "sample events",
};
const toolNames = "Bash|Read|Edit|Write|Glob|Grep|WebFetch|WebSearch|TodoWrite|Task|Agent|MultiEdit|NotebookEdit";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const problems = [];
const rank = Object.keys(LAYERS);
for (const [folder, { folders }] of Object.entries(LAYERS)) {
  for (const other of folders) {
    if (!(other in LAYERS)) problems.push(`LAYERS.${folder} names an unknown folder "${other}"`);
    else if (rank.indexOf(other) >= rank.indexOf(folder))
      problems.push(`LAYERS: ${folder} may not import ${other}, which is written below it`);
  }
}

const src = resolve(process.argv[2] ?? join(root, "packages/runtime/src"));
const onDisk = readdirSync(src, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
for (const folder of onDisk) if (!(folder in LAYERS)) problems.push(`src/${folder} has no line in LAYERS`);
for (const folder of rank) if (!onDisk.includes(folder)) problems.push(`LAYERS.${folder} matches no folder`);

const used = new Map(rank.map((folder) => [folder, new Set()]));
let edges = 0;
for (const path of sourceFiles(src)) {
  const folder = path.split(sep)[0];
  const rule = LAYERS[folder];
  if (!rule) continue;
  for (const [, name] of readFileSync(join(src, path), "utf8").matchAll(
    /\{(?! default:)[^{}]*\} = await import\("([^."][^"]*)"\)/g,
  ))
    if (isCommonJs(name))
      problems.push(`src/${path}: in a bundle, import("${name}") of a CommonJS package has a default export alone`);
  for (const specifier of importsOf(join(src, path))) {
    edges++;
    if (!specifier.startsWith(".")) {
      const allowed = rule.modules.some((name) => specifier === name || (name.endsWith(":") && specifier.startsWith(name)));
      if (!allowed) problems.push(`src/${path}: ${folder}/ may not import "${specifier}"`);
      continue;
    }
    const target = relative(src, resolve(dirname(join(src, path)), specifier)).split(sep)[0];
    used.get(folder).add(target);
    if (target !== folder && !rule.folders.includes(target))
      problems.push(`src/${path}: ${folder}/ may not import ${target}/ (${specifier})`);
  }
}
for (const [folder, { folders }] of Object.entries(LAYERS)) {
  for (const other of folders)
    if (!used.get(folder).has(other)) problems.push(`LAYERS.${folder} allows ${other}/, which it never imports`);
}

const fleet = join(root, "packages/fleet/src");
if (!process.argv[2]) {
  for (const path of sourceFiles(fleet)) {
    for (const specifier of importsOf(join(fleet, path))) {
      edges++;
      if (specifier.startsWith(".") && !resolve(dirname(join(fleet, path)), specifier).startsWith(fleet + sep))
        problems.push(`fleet/src/${path}: reaches outside the package (${specifier}); import a published subpath`);
    }
    if (opens(join(fleet, path))) problems.push(`fleet/src/${path} opens a session past hosting/`);
  }
}

const cli = join(root, "packages/cli/src");
if (!process.argv[2]) {
  for (const path of sourceFiles(cli)) {
    for (const specifier of importsOf(join(cli, path))) {
      edges++;
      if (specifier.startsWith(".") && !resolve(dirname(join(cli, path)), specifier).startsWith(cli + sep)) {
        problems.push(`cli/src/${path}: reaches outside the package (${specifier}); import a published subpath`);
      }
    }
  }
}
if (!process.argv[2]) {
  const asking = new Set(sourceFiles(src).filter((path) => /\.stream\(/.test(readFileSync(join(src, path), "utf8"))));
  for (const path of asking) if (!(path in ASKERS)) problems.push(`src/${path} asks a model and is not in ASKERS`);
  for (const path in ASKERS) if (!asking.has(path)) problems.push(`ASKERS names src/${path}, which asks no model`);
  const opening = new Set(sourceFiles(src).filter((path) => opens(join(src, path))));
  for (const path of opening) if (!(path in OPENERS)) problems.push(`src/${path} opens a session and is not in OPENERS`);
  for (const path in OPENERS) if (!opening.has(path)) problems.push(`OPENERS names src/${path}, which opens none`);
  for (const path of sourceFiles(cli))
    if (path !== join("commands", "demo.ts") && opens(join(cli, path)))
      problems.push(`cli/src/${path} opens a session past hosting/`);
  // Words of Claude Code: hooks are told in them, transports speak them, and nothing between knows them.
  const words = /\b(?:hook_event_name|tool_(?:input|response)|stop_hook_active|custom_instructions|session_id)\b/;
  for (const path of sourceFiles(src))
    if (!/^(?:hooks|transports|testing)\b/.test(path) && words.test(readFileSync(join(src, path), "utf8")))
      problems.push(`src/${path} uses a word of Claude Code's wire, which is for hooks/ and transports/`);
  const reading = new Set(sourceFiles(src).filter((path) => readsSurroundings(join(src, path))));
  for (const path of reading) if (!(path in READERS)) problems.push(`src/${path} reads the environment and is not in READERS`);
  for (const path in READERS) if (!reading.has(path)) problems.push(`READERS names src/${path}, which reads nothing`);
  const mark = /\bas (?:unknown as )?(?:Masked(?:Request)?|ShownOutcome|LiveCall|LiveInput)\b/;
  const marking = new Set(sourceFiles(src).filter((path) => mark.test(readFileSync(join(src, path), "utf8"))));
  for (const path of marking)
    if (!(path in MARKERS)) problems.push(`src/${path} calls a value masked or live and is not in MARKERS`);
  for (const path in MARKERS) if (!marking.has(path)) problems.push(`MARKERS names src/${path}, which marks nothing`);
  const naming = new Set(sourceFiles(src).filter((path) => !path.startsWith(join("tools", "builtin")) && namesTool(src, path)));
  for (const path of naming) if (!(path in NAMERS)) problems.push(`src/${path} knows a tool by its name and is not in NAMERS`);
  for (const path in NAMERS) if (!naming.has(path)) problems.push(`NAMERS names src/${path}, which names no tool`);
  for (const path of sourceFiles(cli))
    if (path !== join("commands", "demo.ts") && namesTool(cli, path)) problems.push(`cli/src/${path} knows a tool by its name`);
  for (const path of sourceFiles(cli))
    if (mark.test(readFileSync(join(cli, path), "utf8"))) problems.push(`cli/src/${path} calls a value masked or live`);
  for (const path of sourceFiles(cli))
    if (/\.stream\(/.test(readFileSync(join(cli, path), "utf8"))) problems.push(`cli/src/${path} asks a model past the session`);
}
for (const [name, folder] of process.argv[2]
  ? [["src", src]]
  : [
      ["src", src],
      ["fleet/src", fleet],
      ["cli/src", cli],
    ])
  for (const path of sourceFiles(folder))
    if (/\bmkdir(?:Sync)?\([^;]*?\brecursive\b[^;]*?\)/.test(readFileSync(join(folder, path), "utf8")))
      problems.push(
        `${name}/${path} has Node make folders recursively, which may never end; use makeFolder of util/make-folder.ts`,
      );
if (edges === 0) problems.push("no imports were found: the checker is looking at nothing");

for (const problem of problems) console.error(`layers: ${problem}`);
console.log(`layers: ${edges} imports in ${onDisk.length} folders, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

function opens(file) {
  return /new (?:InteractiveSession|Session)\(/.test(readFileSync(file, "utf8").replace(/import [^;]*;/g, ""));
}

function readsSurroundings(file) {
  return /\bprocess\.(?:env|argv)\b|\bhomedir\(/.test(readFileSync(file, "utf8"));
}

function namesTool(folder, path) {
  // A "Glob" in permissions/ is a node of bash's grammar.
  const names = path.startsWith("permissions") ? toolNames.replace("Glob|", "") : toolNames;
  const pattern = new RegExp(`"(?:${names})"|^\\s*(?:${names}): `, "m");
  return pattern.test(readFileSync(join(folder, path), "utf8").replace(/^\s*(?:\/\/|\/?\*).*$/gm, ""));
}

function sourceFiles(folder) {
  return readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
}

/** By what Node says of the file that an import finds. */
function isCommonJs(name) {
  const file = fileURLToPath(import.meta.resolve(name));
  if (/\.[cm]js$/.test(file)) return file.endsWith(".cjs");
  const folder = file.slice(
    0,
    file.indexOf(sep, file.lastIndexOf(`node_modules${sep}${name}`) + `node_modules${sep}${name}`.length),
  );
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).type !== "module";
}

function importsOf(file) {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s*["']([^"']+)["']|getBuiltinModule\(\s*["']([^"']+)["']\s*\)/g;
  return [...readFileSync(file, "utf8").matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? match[4]);
}
