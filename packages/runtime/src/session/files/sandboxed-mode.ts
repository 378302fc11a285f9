import { toAbsolutePattern } from "../../permissions/paths.ts";
import type { BoxReach } from "../../permissions/policy.ts";
import { parseRule, toolAliases } from "../../permissions/rules.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { canonicalHost, isAllowedTarget, parseDomainRule } from "../../workspace/box/domain-rules.ts";
import type { CommandPlaces } from "../../workspace/open-workspace.ts";
import type { SandboxOptions } from "../../workspace/sandbox.ts";
import type { SessionOptions } from "../session-options.ts";

/** A box in which any program may run has nothing to show of what rules forbid to read, and cannot write what they forbid to change. */
export function sandboxOf(options: SessionOptions): SandboxOptions {
  const { sandbox } = options;
  return {
    mode: "auto",
    ...sandbox,
    denyRead: [...(sandbox?.denyRead ?? []), ...forbiddenFiles("Read", options)],
    denyWrite: [...(sandbox?.denyWrite ?? []), ...forbiddenFiles("Edit", options), ...(options.permissions?.runOutside ?? [])],
  };
}

/** Files and folders that deny rules spell out; patterns are left to the rules. */
function forbiddenFiles(kind: "Read" | "Edit", { cwd, home, permissions, disallowedTools = [] }: SessionOptions): string[] {
  const written = [...disallowedTools, ...(permissions?.deny ?? []).map(({ text }) => text)].map((text) => parseRule(text));
  const base = { root: permissions?.root ?? cwd, home };
  return written.flatMap(({ tool, pattern }) => {
    const isMeant = kind === "Read" ? tool === kind : tool === "Write" || toolAliases.get(tool) === kind || tool === kind;
    if (!isMeant || pattern === undefined) return [];
    const path = toAbsolutePattern(pattern, base).replace(/\/\*\*$/, "");
    return /[*?]/.test(path) ? [] : [path];
  });
}

/** Where the mode promises a box, nothing begins without one. */
export function refuseWithoutBox({ sandbox }: SessionOptions, places: CommandPlaces): void {
  if (places.sandbox !== "none") return;
  const isOff = sandbox?.mode === "off";
  throw new RuntimeError("config", `Mode sandboxed runs commands in a sandbox, and there is none: ${places.reason}.`, {
    hint: isOff
      ? "Do not turn the sandbox off, or use another mode with rules for what may run"
      : "Install bubblewrap (package bubblewrap) and let it make user namespaces, or use another mode with rules for what may run",
  });
}

/** What commands in the box can reach, in the terms decisions are made in. */
export function boxReach(sandbox: SandboxOptions | undefined): BoxReach {
  const rules = (sandbox?.network?.domains ?? []).map(parseDomainRule);
  return {
    writable: sandbox?.allowWrite ?? [],
    reaches({ hostname, port, protocol }) {
      if (sandbox?.network?.allowed || isOwn(hostname)) return true;
      const host = canonicalHost(hostname);
      return host !== undefined && isAllowedTarget(rules, { host, port: Number(port) || (defaultPorts[protocol] ?? 443) });
    },
  };
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "ssh:": 22, "git:": 9418, "ftp:": 21 };

/** Another machine holds whatever runs there. */
export const otherMachine: BoxReach = { reaches: () => true, writable: ["/"] };

/** The box has a loopback of its own. */
function isOwn(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
