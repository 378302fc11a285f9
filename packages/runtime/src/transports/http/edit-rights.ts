import { judgeEdits } from "../../permissions/judge-edits.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { type Client, may } from "./client.ts";
import { HttpProblem } from "./problem.ts";

/**
 * A client has these files changed without a call of the model: that is judged like such a call. Who may approve answers what would be asked;
 * the owner is not asked.
 */
export async function checkEdits(client: Client, session: InteractiveSession, realPaths: readonly string[]): Promise<void> {
  if (may(client, "admin")) return;
  const { effect, reason } = await judgeEdits((await session.controls()).policy, realPaths);
  if (effect === "allow" || (effect === "ask" && may(client, "approve"))) return;
  const needed = effect === "ask" ? "the scope approve" : "the scope admin";
  throw new HttpProblem("forbidden", `${reason}: it needs ${needed}`);
}
