import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Provider } from "../model/model.ts";
import { type Explanation, explainPermission } from "../permissions/explain.ts";
import type { Decision } from "../permissions/policy.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { openGround } from "../session/session-ground.ts";
import type { CommandPlaces } from "../workspace/open-workspace.ts";
import { toOptions } from "./open-session.ts";
import { type Planning, planSession } from "./plan-session.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";

export type ExplainedCall = Explanation & {
  readonly mode: PermissionMode;
  /** Where a command would run; absent where it would not, and for other calls. */
  readonly place?: "box" | "outside" | undefined;
  readonly project: Project;
};

/** The decision that a session for this request would make about a call. Nothing is run or asked, and nothing stays behind. */
export async function explainCall(request: SessionRequest, call: string, planning: Planning): Promise<ExplainedCall> {
  const plan = await planSession({ ...request, ...alone }, planning);
  const options = await toOptions(plan, { warn: planning.warn });
  const { env = {}, home } = options;
  const overflowDirectory = await mkdtemp(join(tmpdir(), "outrider-explain-"));
  try {
    const { opened, rules } = await openGround(options, { env, home, overflowDirectory });
    const { workspace, places } = opened;
    try {
      const policy = rules.current;
      const explanation = await explainPermission(call, policy, (path) =>
        workspace.resolve(fromHome(path, home, workspace.root)),
      );
      const place = explanation.programs && explanation.effect !== "deny" ? placeOf(explanation, places) : undefined;
      return { ...explanation, place, mode: policy.mode, project: plan.project };
    } finally {
      await workspace.close();
    }
  } finally {
    await rm(overflowDirectory, { recursive: true, force: true });
  }
}

/** Nobody is asked anything, and nothing is stored. */
const alone: Partial<SessionRequest> = {
  provider: {
    name: "none",
    model: "none",
    contextWindow: 0,
    nativeSchema: false,
    stream() {
      throw new Error("Nobody is asked");
    },
  } satisfies Provider,
  model: undefined,
  fallbackModel: undefined,
  recording: undefined,
  session: undefined,
  persistent: false,
};

function fromHome(path: string, home: string | undefined, root: string): string {
  if (home !== undefined && (path === "~" || path.startsWith("~/"))) return join(home, path.slice(1));
  return resolve(root, path);
}

/** In the box is what nothing but the mode lets run, or everything. */
function placeOf({ effect, by = "mode" }: Decision, { boxed }: CommandPlaces): "box" | "outside" {
  if (boxed === "everything") return "box";
  return boxed === "unasked" && effect === "allow" && by === "mode" ? "box" : "outside";
}
