import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { model, tempFolder } from "./command.ts";

export const secret: string = "s3cr3t-of-the-deploy-job";
export const evil: string = "::error title=Evil::from the model\n  ::set-output name=outcome::completed\nsee ##[add-mask]a";

/** What GitHub's runner would obey in a log: `::name::` at the start of a line, `##[name]` anywhere, unless commands are stopped. */
export function obeyed(log: string): string[] {
  let token: string | undefined;
  return log.split("\n").flatMap((line) => {
    const name = /^\s*::([\w-]+)(?: [^:]*)?::/.exec(line)?.[1] ?? /##\[([\w-]+)/.exec(line)?.[1];
    if (name === undefined) return [];
    if (token !== undefined) {
      if (name === token) token = undefined;
      return [];
    }
    if (name !== "stop-commands") return [line];
    token = line.slice("::stop-commands::".length);
    return [];
  });
}

/** The values in a file in the form of `$GITHUB_OUTPUT`. */
function outputsIn(file: string): Record<string, string> {
  const values: Record<string, string> = {};
  const text = readFileSync(file, "utf8");
  for (const [, name = "", , value = ""] of text.matchAll(/^(\w+)<<(\S+)\n([\s\S]*?)\n\2$/gm)) values[name] = value;
  return values;
}

export type GithubStep = {
  folder: string;
  cwd: string;
  server: ModelServer;
  summary: () => string;
  outputs: () => Record<string, string>;
  env: Record<string, string>;
};

/** A step of a job on GitHub: its files, its folder, and a model to ask. */
export async function githubStep(replies: Parameters<typeof model>[0]): Promise<GithubStep> {
  const folder = tempFolder("github");
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const files = { GITHUB_STEP_SUMMARY: join(folder, "summary.md"), GITHUB_OUTPUT: join(folder, "output") };
  for (const file of Object.values(files)) writeFileSync(file, "");
  const { env, server } = await model(replies, join(folder, "home"));
  const summary = (): string => readFileSync(files.GITHUB_STEP_SUMMARY, "utf8");
  const outputs = (): Record<string, string> => outputsIn(files.GITHUB_OUTPUT);
  return { folder, cwd, server, summary, outputs, env: { ...env, ...files, GITHUB_ACTIONS: "true", DEPLOY_TOKEN: secret } };
}
