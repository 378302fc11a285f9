import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const bench = dirname(import.meta.dirname);
const root = dirname(bench);

/** Written to a file of the contestant's home. */
function configure(home, path, value) {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), typeof value === "string" ? value : JSON.stringify(value));
}

/**
 * Who is measured, each on the wire it speaks best. `package` is installed from npm; `prepare` writes what points it at the model and keeps it
 * from asking anybody else; `ask` and `goOn` are the words of one prompt, and of one more in the same session; `serve` is how its server is started
 * and spoken to, where it has one.
 */
export const peers = [
  {
    name: "bare Node",
    isFloor: true,
    ask: ({ home }) => [process.execPath, join(bench, "floor.mjs"), join(home, "request.json"), join(home, "journal"), "text"],
    env: (url) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url }),
    prepare(home) {
      const messages = [{ role: "user", content: "ping" }];
      const tools = [{ name: "Bash", description: "Runs a command", input_schema: { type: "object" } }];
      configure(home, "request.json", { model: "scripted", max_tokens: 100, stream: true, tools, messages });
    },
  },
  {
    name: "Outrider",
    ask: () => [
      process.execPath,
      join(root, "packages/cli/bin/outrider.js"),
      "-p",
      "ping",
      "--allowedTools",
      "Bash",
      "--sandbox",
      "off",
    ],
    goOn: (words) => [...words, "--continue"],
    serve: {
      words: () => [process.execPath, join(root, "packages/cli/bin/outrider.js"), "serve"],
      address: /listens on (http\S+)\n/,
      headers: ({ home }) => ({ authorization: `Bearer ${readFileSync(join(home, ".outrider/server/token"), "utf8").trim()}` }),
      sessions: "/v1/sessions",
      prompts: (id) => `/v1/sessions/${id}/messages`,
      prompt: (text) => ({ text }),
      events: (id) => `/v1/sessions/${id}/events`,
      isWords: (line) => line.includes('"type":"text.delta"'),
    },
    env: (url) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url }),
    prepare() {},
  },
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    bin: "claude",
    ask: ({ bin }) => [bin, "-p", "ping", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"],
    goOn: (words) => [...words, "--continue"],
    env: (url) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" }),
    prepare() {},
  },
  {
    name: "codex",
    package: "@openai/codex",
    bin: "codex",
    ask: ({ bin }) => [bin, "exec", ...codexFlags, "ping"],
    goOn: ([bin]) => [bin, "exec", "resume", "--last", ...codexFlags, "ping"],
    env: () => ({ OPENAI_API_KEY: "k" }),
    prepare(home, url) {
      const quiet = "check_for_update_on_startup = false\n[analytics]\nenabled = false\n[feedback]\nenabled = false\n";
      const provider = `[model_providers.loop]\nname = "loop"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`;
      configure(home, ".codex/config.toml", `model_provider = "loop"\nmodel = "gpt-5"\n${quiet}${provider}`);
    },
  },
  {
    name: "opencode",
    package: "opencode-ai",
    bin: "opencode",
    ask: ({ bin }) => [bin, "run", "-m", "anthropic/claude-sonnet-4-5", "ping"],
    goOn: ([bin, run, ...words]) => [bin, run, "--continue", ...words],
    serve: {
      words: ({ bin }) => [bin, "serve", "--hostname", "127.0.0.1", "--port", "0"],
      address: /listening on (http\S+)\n/,
      headers: () => ({}),
      sessions: "/session",
      prompts: (id) => `/session/${id}/message`,
      prompt: (text) => ({
        model: { providerID: "anthropic", modelID: "claude-sonnet-4-5" },
        parts: [{ type: "text", text }],
      }),
      events: () => "/event", // of all sessions
      isWords: (line, id) => line.includes('"type":"message.part.delta"') && line.includes(id),
    },
    env: () => ({
      ANTHROPIC_API_KEY: "k",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    }),
    prepare: (home, url) =>
      configure(home, ".config/opencode/opencode.json", {
        provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: "k" } } },
        permission: "allow",
        autoupdate: false,
        share: "disabled",
      }),
  },
  {
    name: "pi",
    package: "@earendil-works/pi-coding-agent",
    bin: "pi",
    ask: ({ bin }) => [bin, "-p", "ping", "--provider", "anthropic", "--model", "claude-sonnet-4-5"],
    goOn: (words) => [...words, "--continue"],
    env: () => ({ ANTHROPIC_API_KEY: "k", PI_OFFLINE: "1" }),
    prepare: (home, url) => configure(home, ".pi/agent/models.json", { providers: { anthropic: { baseUrl: url } } }),
  },
  {
    name: "gemini-cli",
    package: "@google/gemini-cli",
    bin: "gemini",
    ask: ({ bin }) => [bin, "-p", "ping", "--approval-mode", "yolo", "-m", "gemini-2.5-flash"],
    goOn: (words) => [...words, "--resume", "latest"],
    env: (url) => ({ GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    prepare: (home) =>
      configure(home, ".gemini/settings.json", {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
  },
];

const codexFlags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
