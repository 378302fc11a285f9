import type { Emit } from "../../protocol/events.ts";
import type { SandboxClient } from "../../workspace/sandbox-client.ts";
import { messageOf } from "../../util/message-of.ts";

/** Keeps the state of another machine for a later resume. A machine that cannot do this causes a warning, and the session ends as usual. */
export async function takeSnapshot(client: SandboxClient | undefined, emit: Emit): Promise<string | undefined> {
  try {
    return await client?.snapshot?.();
  } catch (error) {
    const reason = messageOf(error);
    emit({ type: "warning.raised", message: `The state of the sandbox could not be kept: ${reason}` });
    return undefined;
  }
}
