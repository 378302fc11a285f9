import type { RecordTable } from "./record.ts";

/** Google's models, on Google's own wire. */
export const geminiModels: RecordTable = {
  maker: "google",
  common: {
    contextWindow: 1_048_576,
    maxOutputTokens: 65_536,
    thinking: ["level"],
    efforts: ["low", "medium", "high"],
    temperature: "none",
    stopSequences: true,
    nativeSchema: true,
    images: true,
    pdf: true,
    parallelCalls: true,
    editTool: "replace",
    forcedToolChoice: true,
    prefill: false,
    sendBack: "signed",
    chatTools: "any",
  },
  lines: `
gemini-4-carbon frontier released=2026-11-10
gemini-4-argon large
gemini-3.1-pro-preview large workingWindow=200000 temperature=any prefill=yes
gemini-2.5-pro large workingWindow=200000 thinking=budget budget=128-32768 efforts= temperature=any prefill=yes
gemini-3.8-flash medium released=2026-09-02
gemini-3.7-flash medium released=2026-08-13
gemini-3.6-flash medium released=2026-07-21 efforts=minimal,low,medium,high
gemini-3.5-flash medium released=2026-05-19 efforts=minimal,low,medium,high temperature=any prefill=yes
gemini-3-flash-preview medium efforts=minimal,low,medium,high temperature=any prefill=yes
gemini-2.5-flash medium thinking=budget budget=0-24576 efforts= temperature=any prefill=yes
gemini-3.5-flash-lite small released=2026-07-21 efforts=minimal,low,medium,high
gemini-2.5-flash-lite small thinking=budget budget=0-24576 efforts= temperature=any prefill=yes
gemma-4-31b-it open contextWindow=262144 maxOutputTokens=32768 efforts=minimal,high temperature=any nativeSchema=no pdf=no prefill=yes
gemma-4-26b-a4b-it open contextWindow=262144 maxOutputTokens=32768 efforts=minimal,high temperature=any nativeSchema=no pdf=no prefill=yes
`,
  kinOf(id) {
    if (/^gemini-[12]\b/.test(id)) return id.includes("pro") ? "gemini-2.5-pro" : "gemini-2.5-flash";
    if (/^gemini-3(?:\.[0-5])?-pro/.test(id)) return "gemini-3.1-pro-preview";
    if (/^gemini-3-flash/.test(id)) return "gemini-3-flash-preview";
    if (!/^gemini-/.test(id)) return undefined;
    if (/lite/.test(id)) return "gemini-3.5-flash-lite";
    return id.includes("flash") ? "gemini-3.8-flash" : "gemini-4-argon";
  },
};
