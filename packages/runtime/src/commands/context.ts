import type { SystemCommand } from "./command.ts";

export const contextCommand: SystemCommand = {
  name: "context",
  description: "What fills the model's context window",
  async execute(context) {
    const [use, { describeUse }] = await Promise.all([context.contextUse(), import("./describe-context.ts")]);
    return { success: true, message: describeUse(use), data: use };
  },
};
