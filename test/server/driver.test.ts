import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Ground, type Said } from "./ground.ts";

/** Somebody with a token for `drive` and nothing else, who has a session in the one folder that is allowed. */
type Driver = {
  readonly ground: Ground;
  readonly token: string;
  readonly id: string;
  /** A file of the host that lies outside of the roots. */
  readonly secret: string;
  ask(method: string, path: string, body?: object): Promise<Said>;
};

type Attack = {
  readonly name: string;
  readonly try: (driver: Driver) => Promise<Said>;
  readonly status: number;
};

const inSession = (path: string, body?: (driver: Driver) => object) => (driver: Driver) =>
  driver.ask("POST", `/v1/sessions/${driver.id}/${path}`, body?.(driver) ?? {});
const command = (name: string, args: (driver: Driver) => string = () => "") =>
  inSession(`commands/${name}`, (driver) => ({ args: args(driver) }));
const begin = (wish: (driver: Driver) => object) => (driver: Driver) => driver.ask("POST", "/v1/sessions", wish(driver));
const prompt = (text: (driver: Driver) => string) => inSession("messages", (driver) => ({ text: text(driver) }));

/** Each way to something that the token does not give; whatever is answered, the secret is neither told nor sent to the model, nor is anything of the owner's changed. */
const attacks: readonly Attack[] = [
  { name: "a folder above the root", try: begin(({ ground }) => ({ cwd: ground.top })), status: 403 },
  { name: "a folder behind a link", try: begin(({ ground }) => ({ cwd: join(ground.cwd, "way-out") })), status: 403 },
  { name: "a folder by dots", try: begin(({ ground }) => ({ cwd: `${ground.cwd}/../outside` })), status: 403 },
  { name: "a folder that is not absolute", try: begin(() => ({ cwd: "../outside" })), status: 400 },
  { name: "MCP servers of its own", try: begin(() => ({ mcpServers: { evil: { command: "touch" } } })), status: 400 },
  { name: "hooks of its own", try: begin(() => ({ hooks: { Stop: [] } })), status: 400 },
  { name: "rules of its own", try: begin(() => ({ allowedTools: ["Bash"] })), status: 400 },
  { name: "settings of its own", try: begin(() => ({ settings: { permissions: {} } })), status: 400 },
  { name: "variables of its own", try: begin(() => ({ env: { PATH: "/" } })), status: 400 },
  { name: "folders beside its own", try: begin(() => ({ additionalDirectories: ["/"] })), status: 400 },
  { name: "a looser mode", try: begin(() => ({ permissionMode: "acceptEdits" })), status: 403 },
  { name: "no permissions at all", try: begin(() => ({ permissionMode: "bypassPermissions" })), status: 403 },
  { name: "a model that is a file", try: begin(({ secret }) => ({ model: `scripted/${secret}` })), status: 403 },
  { name: "a prompt that names a file outside", try: prompt(({ secret }) => `@${secret} please`), status: 200 },
  { name: "a prompt that names it by dots", try: prompt(() => "@../outside/secret.txt please"), status: 200 },
  { name: "a prompt that names it behind a link", try: prompt(() => "@way-out/secret.txt please"), status: 200 },
  { name: "a file outside in every prompt", try: command("context", ({ secret }) => `add ${secret}`), status: 200 },
  {
    name: "the owner's token in every prompt",
    try: command("context", ({ ground }) => `add ${ground.tokens.tokenPath}`),
    status: 200,
  },
  { name: "the settings of the user deleted", try: command("reset"), status: 200 },
  { name: "the settings of the user deleted, in so many words", try: prompt(() => "/reset"), status: 200 },
  { name: "another session", try: command("resume", () => "0c5d"), status: 200 },
  { name: "a looser mode by a command", try: command("mode", () => "acceptEdits"), status: 200 },
  { name: "a model that is a file, by a command", try: command("model", ({ secret }) => `scripted/${secret}`), status: 200 },
  {
    name: "a model that is a file, in the middle of a session",
    try: (driver) => driver.ask("PATCH", `/v1/sessions/${driver.id}/settings`, { model: `scripted/${driver.secret}` }),
    status: 403,
  },
  { name: "a command that is a path", try: command("..%2f..%2fhelp"), status: 404 },
  { name: "an agent that is a path", try: begin(({ secret }) => ({ agent: secret })), status: 422 },
  {
    name: "files outside, by their names",
    try: (driver) => driver.ask("GET", `/v1/sessions/${driver.id}/files?query=..%2Foutside`),
    status: 200,
  },
  { name: "a checkpoint that is a path", try: inSession("checkpoints/..%2f..%2fx/restore"), status: 404 },
  {
    name: "the log of a task that is a path",
    try: (driver) => driver.ask("GET", `/v1/sessions/${driver.id}/tasks/..%2fx/log`),
    status: 404,
  },
  {
    name: "an image that is no image",
    try: inSession("messages", () => ({ content: [{ type: "image", mediaType: "image/png", data: "not base64!" }] })),
    status: 200,
  },
  {
    name: "an image of the host, by its address",
    try: inSession("messages", ({ secret }) => ({ content: [{ type: "image", url: `file://${secret}` }] })),
    status: 400,
  },
];

describe("whoever may drive and nothing else", () => {
  for (const attack of attacks)
    it(`does not get ${attack.name}: ${attack.status}`, async () => {
      const driver = await start();
      const { ground, secret } = driver;
      const before = readFileSync(join(ground.top, ".outrider/settings.json"), "utf8");
      const said = await attack.try(driver);
      assert.equal(said.status, attack.status, said.text.slice(0, 300));
      const next = await driver.ask("POST", `/v1/sessions/${driver.id}/messages`, { text: "what do you see?" });
      const { text } = await driver.ask("GET", `/v1/sessions/${driver.id}/messages`);
      for (const shown of [said.text, next.text, text]) {
        assert.ok(!shown.includes("TOPSECRET"), "the secret was told");
        assert.ok(!shown.includes(ground.owner), "the owner's token was told");
      }
      const { json } = await driver.ask("GET", `/v1/sessions/${driver.id}/settings`);
      assert.equal(json.permissionMode, "default");
      assert.equal(readFileSync(join(ground.top, ".outrider/settings.json"), "utf8"), before);
      assert.ok(existsSync(secret));
    });
});

describe("which files there are outside", () => {
  const ways: Record<string, (name: string) => (driver: Driver) => Promise<Said>> = {
    "a file for every prompt": (name) => command("context", () => `add ${name}`),
    "a prompt": (name) => prompt(() => `@${name} please`),
  };
  for (const [way, ask] of Object.entries(ways))
    it(`is not told by ${way}`, async () => {
      const told = async (file: string): Promise<readonly string[]> => {
        const driver = await start();
        const name = join(driver.secret, "..", file);
        const { text } = await ask(name)(driver);
        const stored = await driver.ask("GET", `/v1/sessions/${driver.id}/messages`);
        return `${text}\n${stored.text}`.replaceAll(name, "NAME").match(/[^"]*NAME[^"]*/g) ?? [];
      };
      const there = await told("secret.txt");
      assert.match(there.join("\n"), /NAME (?:may not be read|was not read)/);
      assert.deepEqual(await told("nothing.txt"), there);
    });
});

async function start(): Promise<Driver> {
  const ground = new Ground([{ text: "seen" }, { text: "seen" }, { text: "seen" }]);
  const outside = join(ground.top, "outside");
  mkdirSync(outside);
  const secret = join(outside, "secret.txt");
  writeFileSync(secret, "TOPSECRET\n");
  symlinkSync(outside, join(ground.cwd, "way-out"));
  mkdirSync(join(ground.top, ".outrider"));
  writeFileSync(join(ground.top, ".outrider/settings.json"), '{"language":"en"}');
  await ground.start({ permissionWaitMs: 1 });
  const token = ground.token({ name: "driver", scopes: ["drive"] });
  const id = await ground.session({ token });
  return { ground, token, id, secret, ask: (method, path, body) => ground.ask(method, path, { token, ...(body && { body }) }) };
}
