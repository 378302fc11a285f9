import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";
import { WebSocket } from "ws";
import { parse } from "yaml";
import { serveSwitches, serveValues } from "../../packages/cli/src/commands/serve/open-server.ts";
import { eventually, projectRoot } from "../e2e/command.ts";
import { Ground, Watch } from "./ground.ts";

const page = readFileSync(join(projectRoot, "docs/server.md"), "utf8");
const block = (language: string): string =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].find(([, name]) => name === language)?.[2] ?? "";
const folder = mkdtempSync(join(tmpdir(), "outrider-recipes-"));
const programs: ChildProcess[] = [];
after(() => {
  for (const program of programs) program.kill("SIGTERM"); // nginx takes its workers along
  rmSync(folder, { recursive: true, force: true });
});

/** On the path, or where CI unpacks Debian's packages without installing them. */
function find(name: string): string | undefined {
  const unpacked = join(projectRoot, ".cache/programs/usr");
  const places = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", join(unpacked, "sbin"), join(unpacked, "bin")];
  return places.map((place) => join(place, name)).find((path) => existsSync(path));
}

const name = "agents.example.com";

/** What a client needs of the server, through whatever stands before it on a socket of its own. */
async function useThrough(socketPath: string, ground: Ground): Promise<void> {
  const open = async (method: string, path: string, body?: object, more: Record<string, string> = {}): Promise<IncomingMessage> =>
    await new Promise((resolve, reject) => {
      const headers = {
        ...{ host: name, authorization: `Bearer ${ground.owner}` },
        ...(body && { "content-type": "application/json" }),
        ...more,
      };
      const asking = request({ socketPath, method, path, headers, agent: false });
      asking.on("response", resolve).on("error", (cause) => reject(new Error(`${method} ${path}`, { cause })));
      asking.end(body && JSON.stringify(body));
    });
  const ask = async (...asked: Parameters<typeof open>) => {
    const response = await open(...asked);
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    return { status: response.statusCode, text };
  };
  assert.equal((await ask("GET", "/healthz")).status, 200);
  assert.equal((await ask("GET", "/v1/sessions", undefined, { origin: `https://${name}` })).status, 200);
  assert.equal((await ask("GET", "/v1/sessions", undefined, { origin: "https://evil.example" })).status, 403);
  const { id } = JSON.parse((await ask("POST", "/v1/sessions", {})).text);
  const watch = new Watch(await open("GET", `/v1/sessions/${id}/events?after=0`));
  const text = "go ".repeat(500_000); // more than nginx takes unless it is told
  const answer = ask("POST", `/v1/sessions/${id}/messages`, { text });
  // The turn waits for an answer: events that are kept back until there are more would never come.
  const { data } = await watch.untilType("permission.requested");
  const socket = new WebSocket(`ws+unix:${socketPath}:/v1/ws`, {
    headers: { host: name, authorization: `Bearer ${ground.owner}` },
  });
  const told = new Promise<string[]>((resolve, reject) => {
    const types: string[] = [];
    socket.on("error", reject);
    socket.on("open", () => socket.send(JSON.stringify({ type: "subscribe", sessionId: id })));
    socket.on("message", (message) => {
      types.push(JSON.parse(String(message)).type);
      if (types.includes("permission_request")) resolve(types);
    });
  });
  assert.ok((await told).includes("subscribed"));
  socket.terminate();
  assert.equal((await ask("POST", `/v1/sessions/${id}/permissions/${data.requestId}`, { decision: "deny" })).status, 200);
  assert.match((await answer).text, /"text":"As you like\."/);
  watch.leave();
}

const asking = [{ text: "", calls: [{ name: "Bash", input: { command: "touch x" } }] }, { text: "As you like." }];
const open = async (): Promise<Ground> => await new Ground(asking).start({ allowedHosts: [name], isBehindProxy: true });

async function startBefore(program: string, args: readonly string[], socket: string): Promise<void> {
  const child = spawn(program, args, { cwd: folder, env: { HOME: folder, PATH: process.env["PATH"] ?? "" }, stdio: "pipe" });
  programs.push(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  await eventually(() => {
    assert.equal(child.exitCode, null, said);
    return existsSync(socket);
  }, "it listens");
}

const nginx = find("nginx");
const caddy = find("caddy");
const analyze = find("systemd-analyze");

describe("recipes of docs/server.md", () => {
  it("nginx carries requests, events as they happen, and sockets", {
    skip: nginx === undefined && "there is no nginx",
  }, async () => {
    const ground = await open();
    const socket = join(folder, "nginx.sock");
    const place = join(folder, "nginx");
    mkdirSync(place);
    const server = block("nginx")
      .replace("listen 443 ssl;", `listen unix:${socket};`)
      .replace(/^ *ssl_.*\n/gm, "")
      .replace("http://127.0.0.1:4711", ground.url);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((kind) => `${kind}_temp_path ${place}/${kind};`)
      .join(" ");
    const config = `${process.getuid?.() === 0 ? "user root; " : ""}daemon off; pid ${place}/pid; error_log stderr;\nevents {}\nhttp { access_log off; ${paths}\n${server} }\n`;
    writeFileSync(join(place, "nginx.conf"), config);
    await startBefore(nginx ?? "", ["-e", "stderr", "-p", place, "-c", join(place, "nginx.conf")], socket);
    await useThrough(socket, ground);
  });

  it("Caddy carries requests, events as they happen, and sockets", {
    skip: caddy === undefined && "there is no Caddy",
  }, async () => {
    const ground = await open();
    const socket = join(folder, "caddy.sock");
    const file = join(folder, "Caddyfile");
    writeFileSync(file, block("caddyfile"));
    const checked = spawnSync(caddy ?? "", ["adapt", "--config", file, "--adapter", "caddyfile"], {
      encoding: "utf8",
      env: { HOME: folder },
    });
    assert.equal(checked.status, 0, checked.stderr);
    const site = block("caddyfile")
      .replace(`${name} {`, `http://${name} {\n  bind unix/${socket}`)
      .replace("127.0.0.1:4711", new URL(ground.url).host);
    writeFileSync(file, `{\n  admin off\n  auto_https off\n}\n${site}`);
    await startBefore(caddy ?? "", ["run", "--config", file, "--adapter", "caddyfile"], socket);
    await useThrough(socket, ground);
  });

  it("systemd knows every line of the unit", { skip: analyze === undefined && "there is no systemd-analyze" }, () => {
    const runtime = join(folder, "run");
    mkdirSync(runtime);
    const verify = (text: string): string => {
      const file = join(folder, "outrider.service");
      writeFileSync(file, text);
      const env = { HOME: folder, XDG_RUNTIME_DIR: runtime, PATH: process.env["PATH"] ?? "" };
      return spawnSync(analyze ?? "", ["verify", "--user", file], { encoding: "utf8", env }).stderr.trim();
    };
    const unit = block("ini").replace("/usr/local/bin/outrider", process.execPath);
    assert.equal(verify(unit), "");
    assert.match(verify(unit.replace("Restart=", "Restrat=")), /Unknown key/); // it can say no
  });

  it("Kubernetes starts the server with flags that there are, and asks where it answers", async () => {
    const { spec } = parse(block("yaml"));
    const [container] = spec.template.spec.containers;
    const flags = container.args.filter((word: string) => word.startsWith("--"));
    assert.deepEqual(
      flags.filter((flag: string) => ![...serveSwitches, ...serveValues].includes(flag)),
      [],
    );
    const drain = Number.parseInt(container.args[container.args.indexOf("--drain") + 1], 10);
    assert.ok(spec.template.spec.terminationGracePeriodSeconds > drain);
    const ground = await open();
    for (const { httpGet } of [container.livenessProbe, container.readinessProbe]) {
      const headers = Object.fromEntries(
        httpGet.httpHeaders.map((header: { name: string; value: string }) => [header.name, header.value]),
      );
      assert.equal((await ground.ask("GET", httpGet.path, { token: null, headers })).status, 200);
    }
  });
});
