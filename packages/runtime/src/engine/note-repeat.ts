import type { TextPart } from "../protocol/content.ts";
import type { Tool } from "../tools/tool.ts";
import type { CallDeps } from "./deps.ts";
import type { LiveCall } from "./live-call.ts";
import { essenceOf } from "./same-call.ts";
import type { Attempt } from "./tool-call.ts";

type Ended = { readonly call: LiveCall; readonly tool: Tool | undefined; readonly ended: Attempt };

/** As the tool answered, but for the place where the whole of a long answer is kept: that is another one each time. */
export function noteRepeat({ repeats, halt, workspace }: CallDeps, { call, tool, ended }: Ended): TextPart[] {
  const { output, ran, meant, changes = false } = ended;
  const isUsable = meant !== undefined;
  const essence = isUsable ? essenceOf(meant, tool?.facts, workspace.root) : (call.malformedInput ?? call.input);
  const kept = output.details?.fullOutputPath;
  const content = output.content.map((part) =>
    kept !== undefined && part.type === "text" ? { ...part, text: part.text.replaceAll(kept, "") } : part,
  );
  const name = tool?.name ?? call.name;
  const { note, stop } = repeats.observe({ name, essence, isUsable, content, ran: ran !== undefined, changes });
  if (stop !== undefined) halt({ limit: "loop", reason: stop });
  return note === undefined ? [] : [{ type: "text", text: note }];
}
