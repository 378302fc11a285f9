import type { RecordTable } from "./record.ts";

/** Anthropic's models, on whichever host. */
export const claudeModels: RecordTable = {
  maker: "anthropic",
  common: {
    contextWindow: 1_000_000,
    maxOutputTokens: 128_000,
    thinking: ["adaptive"],
    efforts: ["low", "medium", "high", "xhigh", "max"],
    temperature: "none",
    temperatures: [0, 1],
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
claude-fable-5-2 frontier released=2026-11-09 forcedToolChoice=no sendBack=bound
claude-mythos-5-2 frontier released=2026-11-09 forcedToolChoice=no sendBack=bound
claude-fable-5-1 frontier released=2026-09-01 forcedToolChoice=no sendBack=bound
claude-fable-5 frontier released=2026-06-09
claude-opus-5-5 large released=2026-09-22 forcedToolChoice=no sendBack=bound
claude-opus-5 large released=2026-07-24 thinking=adaptive,disabled
claude-opus-4-8 large released=2026-05-28 thinking=adaptive,disabled
claude-opus-4-7 large thinking=adaptive,disabled
claude-opus-4-6 large thinking=adaptive,enabled,disabled efforts=low,medium,high,max temperature=idle
claude-opus-4-5 large contextWindow=200000 maxOutputTokens=64000 thinking=enabled,disabled efforts=low,medium,high temperature=idle prefill=yes
claude-opus-4-1 large contextWindow=200000 maxOutputTokens=32000 thinking=enabled,disabled efforts= temperature=idle nativeSchema=no prefill=yes
claude-opus-4 large contextWindow=200000 maxOutputTokens=32000 thinking=enabled,disabled efforts= temperature=idle nativeSchema=no prefill=yes
claude-sonnet-5-5 medium released=2026-09-28 thinking=adaptive,between_tools forcedToolChoice=no sendBack=bound
claude-sonnet-5 medium released=2026-06-30 thinking=adaptive,disabled
claude-sonnet-4-6 medium thinking=adaptive,enabled,disabled efforts=low,medium,high,max temperature=idle
claude-sonnet-4-5 medium retires=2026-11-30 contextWindow=200000 longWindow=1000000 maxOutputTokens=64000 thinking=enabled,disabled efforts= temperature=idle prefill=yes
claude-sonnet-4 medium contextWindow=200000 longWindow=1000000 maxOutputTokens=64000 thinking=enabled,disabled efforts= temperature=idle nativeSchema=no prefill=yes
claude-3-7-sonnet medium contextWindow=200000 maxOutputTokens=64000 thinking=enabled,disabled efforts= temperature=idle nativeSchema=no prefill=yes
claude-3 medium contextWindow=200000 maxOutputTokens=8192 thinking= efforts= temperature=any nativeSchema=no prefill=yes
claude-haiku-5-5 small released=2026-10-07 workingWindow=100000 thinking=adaptive,disabled sendBack=bound
claude-haiku-4-5 small contextWindow=200000 maxOutputTokens=64000 thinking=enabled,disabled efforts= temperature=idle prefill=yes
`,
  kinOf(id) {
    if (!id.startsWith("claude-")) return undefined;
    if (/^claude-3[-.]7/.test(id)) return "claude-3-7-sonnet";
    if (/^claude-(?:[123]|instant|v\d)/.test(id)) return "claude-3";
    const old = /^claude-(opus|sonnet)-4-0$/.exec(id) ?? /^claude-4-(opus|sonnet)/.exec(id);
    if (old) return `claude-${old[1]}-4`;
    const family = /^claude-(?:\d[\d.-]*)?(fable|mythos|opus|sonnet|haiku)/.exec(id)?.[1];
    if (family === undefined) return undefined;
    return family === "fable" || family === "mythos" ? "claude-fable-5-2" : `claude-${family}-5-5`;
  },
};
