import { RuntimeError } from "../protocol/errors.ts";
import type { ProgramCommand, RunCommand, Workspace } from "../workspace/workspace.ts";
import type { Permit } from "./judge-call.ts";

/** The workspace for one call: the programs it starts run where what it rests on lets them, and know their place in a trace. Tools need not think of it. */
export function runningWith(workspace: Workspace, permit: Permit, traceparent?: string): Workspace {
  const way = wayOf(permit);
  const placed = <C extends ProgramCommand>(command: C): C & typeof way => ({
    ...command,
    ...way,
    ...(traceparent !== undefined && { env: { TRACEPARENT: traceparent, ...command.env } }),
  });
  const bound: Pick<Workspace, "run" | "start" | "at"> = {
    run: (command) => workspace.run(placed(command)),
    start: (command) => workspace.start(placed(command)),
    at: () => Promise.reject(otherRoot()),
  };
  return new Proxy(workspace, {
    get(target, name) {
      if (name === "run" || name === "start" || name === "at") return bound[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** What a call was judged by does not hold anywhere else. */
function otherRoot(): RuntimeError {
  return new RuntimeError("usage", "A call works in its own root.");
}

/** Outside when the user let it run; in the box when nothing but the mode did. */
function wayOf({ by, partly }: Permit): Required<Pick<RunCommand, "place" | "unasked">> {
  if (by === "mode") return { place: "box", unasked: "whole" };
  return { place: "outside", unasked: partly ? "parts" : undefined };
}
