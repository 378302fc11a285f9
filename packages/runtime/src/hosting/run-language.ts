import { join } from "node:path";
import type { CommandResult } from "../commands/command.ts";
import { checkLayer } from "../settings/check-layer.ts";
import { editSettings } from "../settings/edit-settings.ts";
import type { Surroundings } from "./surroundings.ts";

/** `/language`: which one answers are written in, or another one for the sessions that begin from now on; `default` for the one of the prompt. */
export async function runLanguage(
  args: string,
  current: string | undefined,
  { outriderHome }: Pick<Surroundings, "outriderHome">,
): Promise<CommandResult> {
  const wanted = args.trim();
  if (wanted === "")
    return {
      success: true,
      message: current === undefined ? "Answers are written in the language of the prompt" : `Answers are written in ${current}`,
      data: { language: current ?? "default" },
    };
  const isDefault = wanted.toLowerCase() === "default";
  const path = join(outriderHome, "settings.json");
  await editSettings(path, {
    check: async (file) => checkLayer({ ...file, scope: "user", dialect: "outrider", path }),
    change: ({ language: _, ...values }) => (isDefault ? values : { ...values, language: wanted }),
    mode: 0o600,
  });
  const named = isDefault ? "the language of the prompt" : wanted;
  return {
    success: true,
    message: `Answers are written in ${named} from the next session on (${path})`,
    data: { language: isDefault ? "default" : wanted },
  };
}
