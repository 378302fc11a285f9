import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { parseTask, type TaskDefaults } from "./parse-task.ts";
import type { BatchTask } from "./task.ts";

/** A folder with what is to be done (`instruction.md`), what it says of itself (`task.toml`) and tests. */
export function isHarborTask(folder: string): boolean {
  return existsSync(join(folder, "instruction.md")) && existsSync(join(folder, "task.toml"));
}

/**
 * A Harbor task directory as a task. The agent works in a copy of `environment/`: images are not built here, so that what its Dockerfile would
 * install is not there. When it is done, `tests/test.sh` decides, in a box that has the work at `/app` and at the WORKDIR of the Dockerfile,
 * the tests at `/tests`, and `/logs`: by the reward it writes to `/logs/verifier`, where it writes one, and else by its exit code.
 */
export function fromHarbor(folder: string, defaults: TaskDefaults = {}): BatchTask {
  const settings = tomlNumbers(readFileSync(join(folder, "task.toml"), "utf8"));
  if (!existsSync(join(folder, "tests/test.sh"))) throw new RuntimeError("usage", `${folder} has no tests/test.sh`);
  const agentSeconds = settings.get("agent.timeout_sec");
  const verifierSeconds = settings.get("verifier.timeout_sec");
  const { check: _, prompt: __, ...rest } = defaults;
  const instruction = readFileSync(join(folder, "instruction.md"), "utf8").trim();
  const place = workFolder(join(folder, "environment/Dockerfile"));
  const task = parseTask(
    { id: basename(resolve(folder)), prompt: "instruction", seed: "environment", labels: { source: "harbor" } },
    { folder, where: folder, index: 0 },
    rest,
  );
  return {
    ...task,
    prompt: `${instruction}\n\nThe folder that is called ${place} here is your working folder.`, // its words are no template
    ...(agentSeconds !== undefined && { deadlineMs: agentSeconds * 1000 }),
    check: {
      command: `mkdir -p /logs/verifier /logs/agent\ncd '${place}'\nbash /tests/test.sh`,
      sandboxed: true,
      reward: true,
      mounts: { "/app": "WORK", ...(place !== "/app" && { [place]: "WORK" }), "/tests": resolve(folder, "tests") },
      ...(verifierSeconds !== undefined && { timeoutMs: verifierSeconds * 1000 }),
    },
  };
}

/** Where the image would work: the last WORKDIR, unless that is a folder of the system, which the box has already. */
function workFolder(dockerfile: string): string {
  const text = existsSync(dockerfile) ? readFileSync(dockerfile, "utf8") : "";
  const stage = text.split(/^\s*FROM\s/im).at(-1) ?? "";
  const names = [...stage.matchAll(/^\s*WORKDIR\s+(\S+)\s*$/gim)].map(([, name = ""]) => name.replaceAll(/["']/g, ""));
  const path = names.length === 0 ? "/app" : resolve("/", ...names);
  return /^\/[\w.-]+(?:\/[\w.-]+)*$/.test(path) && !systemFolders.test(path) ? path : "/app";
}

const systemFolders =
  /^\/(?:bin|boot|dev|etc|home|lib\w*|logs|media|mnt|nix|opt|proc|root|run|sbin|srv|sys|tests|tmp|usr|var)(?:\/|$)/;

/** The numbers of a TOML file by `section.key`: limits are all that is read of it. */
function tomlNumbers(text: string): Map<string, number> {
  const found = new Map<string, number>();
  let section = "";
  for (const line of text.split("\n")) {
    const [, name] = /^\s*\[([^\]]+)\]\s*(?:#.*)?$/.exec(line) ?? [];
    if (name !== undefined) section = `${name.trim()}.`;
    const [, key, value] = /^\s*([\w-]+)\s*=\s*(\d+(?:\.\d+)?)\s*(?:#.*)?$/.exec(line) ?? [];
    if (key !== undefined) found.set(`${section}${key}`, Number(value));
  }
  return found;
}
