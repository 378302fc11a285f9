import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type ModelServerOptions, type ServerStep, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { type Run, run } from "../e2e/command.ts";
import { folderFor } from "./case-table.ts";

export type ScriptedRun = {
  readonly replies?: readonly ServerStep[];
  readonly args?: readonly string[];
  readonly prompt?: readonly string[];
  readonly env?: Readonly<Record<string, string>> | ((place: Place) => Readonly<Record<string, string>>);
  /** Files of the project by their path, and of the home below `~/`; an object is written as JSON. */
  readonly files?: Readonly<Record<string, string | object>>;
};

type Place = { readonly project: string; readonly home: string };

export type RanScript = Run & {
  readonly project: string;
  readonly home: string;
  readonly requests: readonly unknown[];
  /** Everything that was written below the home: journals, logs, records. */
  stored(): string;
  has(path: string): boolean;
};

/** The built command on a project of its own, with a home of its own, against a scripted model over a real socket. */
export async function runScripted(test: TestContext, options: ScriptedRun = {}): Promise<RanScript> {
  const folder = folderFor(test);
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(project);
  mkdirSync(home);
  for (const [path, content] of Object.entries(options.files ?? {})) {
    const target = path.startsWith("~/") ? join(home, path.slice(2)) : join(project, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, typeof content === "string" ? content : JSON.stringify(content, null, 1), { mode: 0o755 });
  }
  const replies: ModelServerOptions["replies"] = options.replies ?? [{ text: "done" }];
  const server = await startModelServer({ replies });
  test.after(() => server.close());
  const env = {
    HOME: home,
    OUTRIDER_HOME: join(home, ".outrider"),
    ANTHROPIC_API_KEY: "test-key-1234",
    ANTHROPIC_BASE_URL: server.url,
    OUTRIDER_RETRY_BASE_MS: "5",
    ...(typeof options.env === "function" ? options.env({ project, home }) : options.env),
  };
  const ran = await run([...(options.prompt ?? ["-p", "go"]), ...(options.args ?? [])], { cwd: project, env });
  return {
    ...ran,
    project,
    home,
    requests: server.requests.map(({ body }) => body),
    stored: () => textBelow(home),
    has: (path) => existsSync(join(project, path)),
  };
}

function textBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}
