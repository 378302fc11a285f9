import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { ControlChannel } from "./control-channel.ts";
import type { Person } from "./host-tools.ts";
import { updatePermissions } from "../../hosting/permission-answers.ts";

type Ways = {
  readonly channel: ControlChannel;
  readonly session: () => Promise<InteractiveSession>;
  readonly warn: (message: string) => void;
  /** The host is told that another mode counts now. */
  readonly told: (mode: string) => void;
};

/** The person behind the host: reached by the same question as for a permission, and with a say in the same things. */
export function toPerson({ channel, session, warn, told }: Ways): Person {
  const controls = async (): ReturnType<InteractiveSession["controls"]> => await (await session()).controls();
  return {
    ask: ({ tool, input, callId }, signal) =>
      channel.ask(
        {
          subtype: "can_use_tool",
          tool_name: tool,
          display_name: tool,
          input,
          tool_use_id: callId,
          requires_user_interaction: true,
        },
        signal,
      ),
    mode: async () => (await controls()).facts.permissionMode,
    async setMode(mode) {
      (await controls()).setPermissionMode(mode);
      told(mode);
    },
    update: async (response) => await updatePermissions(response, { session: await session(), warn, changed: told }),
    interrupt: () => void session().then((open) => open.abort()),
  };
}
