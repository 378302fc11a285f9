import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { createScriptedProvider, type ScriptStep, type ScriptedReply } from "../../packages/runtime/src/model/scripted.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import type { SessionOptions } from "../../packages/runtime/src/session/session-options.ts";
import { serveSession, type WsOptions } from "./ws-server.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-ws-"));
after(() => rmSync(top, { recursive: true, force: true }));

export const proved = new Set<string>();

/** A test that shows these lines of the list; it counts when it passes. */
export function shows(ids: readonly string[], what: string, test: () => Promise<void>): void {
  it(what, { timeout: 60_000 }, async () => {
    await test();
    for (const id of ids) proved.add(id);
  });
}

export const call = (name: string, input: Record<string, unknown>): ScriptedReply => ({ calls: [{ name, input, callId: "c1" }] });
export const used = { usage: { inputTokens: 90, outputTokens: 10 } };

export function openSession(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies, { contextWindow: 1000 });
  const cwd = mkdtempSync(join(top, "s-"));
  return { provider, cwd, session: new InteractiveSession({ cwd, provider, ...options }) };
}

export async function serve(
  replies: readonly ScriptStep[],
  options: Partial<SessionOptions> = {},
  optionsOf?: (path: string) => WsOptions,
) {
  const opened = openSession(replies, options);
  return { ...opened, ...(await serveSession(opened.session, optionsOf)) };
}

/** Resolves when somebody says so; for answers that come in the middle of something. */
export function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
