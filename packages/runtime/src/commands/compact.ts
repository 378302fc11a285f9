import type { SystemCommand } from "./command.ts";

export const compactCommand: SystemCommand = {
  name: "compact",
  description: "Summarise the conversation so far, to make room",
  modelInvocable: true,
  lifecycle: "blocking",
  argumentHint: "[what the summary should dwell on]",
  async execute(context, args) {
    const report = await context.compact(args || undefined);
    if (!report) return { success: true, message: "Nothing to summarise yet" };
    const [before, now] = [report.preTokens, report.postTokens].map((count) => count.toLocaleString("en-US"));
    return {
      success: true,
      message: `Older messages gave way to a summary: about ${before} tokens before, ${now} now`,
      data: report,
    };
  },
};
