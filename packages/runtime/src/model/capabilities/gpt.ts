import type { RecordTable } from "./record.ts";

/** OpenAI's models, at OpenAI and at Azure. */
export const gptModels: RecordTable = {
  maker: "openai",
  common: {
    contextWindow: 1_050_000,
    workingWindow: 272_000,
    maxOutputTokens: 128_000,
    thinking: ["effort"],
    efforts: ["none", "low", "medium", "high", "xhigh", "max"],
    usualEffort: "medium",
    temperature: "idle",
    stopSequences: false,
    nativeSchema: true,
    images: true,
    pdf: true,
    parallelCalls: true,
    editTool: "patch",
    forcedToolChoice: true,
    prefill: true,
    sendBack: "encrypted",
    chatTools: "any",
  },
  lines: `
gpt-6-astra frontier efforts=low,medium,high,xhigh,max temperature=none chatTools=never
gpt-6.1-sol large released=2026-09-29 efforts=low,medium,high,xhigh,max temperature=none chatTools=never
gpt-6-sol large chatTools=off
gpt-5.6-sol large chatTools=off
gpt-5.5-pro large efforts=medium,high,xhigh temperature=none chatTools=never
gpt-5.4-pro large efforts=medium,high,xhigh temperature=none chatTools=never
gpt-5.2-pro large contextWindow=400000 efforts=medium,high,xhigh temperature=none chatTools=never
gpt-5.5 large efforts=none,low,medium,high,xhigh chatTools=unworded
gpt-5.4 large efforts=none,low,medium,high,xhigh chatTools=unworded
gpt-5.3-codex large contextWindow=400000 efforts=none,low,medium,high,xhigh temperature=none chatTools=never
gpt-5.2 large contextWindow=400000 efforts=none,low,medium,high,xhigh
gpt-5.1 large retires=2027-04-01 contextWindow=400000 efforts=none,low,medium,high
gpt-5-pro large retires=2026-12-11 contextWindow=400000 efforts=high usualEffort=high temperature=none chatTools=never
gpt-5 large retires=2026-12-11 contextWindow=400000 efforts=minimal,low,medium,high temperature=none
o3 large retires=2026-12-11 contextWindow=200000 workingWindow=200000 maxOutputTokens=100000 efforts=low,medium,high temperature=none editTool=replace
o4-mini medium retires=2026-10-23 contextWindow=200000 workingWindow=200000 maxOutputTokens=100000 efforts=low,medium,high temperature=none editTool=replace
gpt-4.1 large retires=2027-01-14 contextWindow=1047576 workingWindow=1047576 maxOutputTokens=32768 thinking= efforts= usualEffort= temperature=any stopSequences=yes editTool=replace sendBack=nothing
gpt-4o large retires=2027-01-14 contextWindow=128000 workingWindow=128000 maxOutputTokens=16384 thinking= efforts= usualEffort= temperature=any stopSequences=yes editTool=replace sendBack=nothing
gpt-6.1-terra medium released=2026-10-26 chatTools=off
gpt-5.6-terra medium chatTools=off
gpt-5.4-mini medium contextWindow=400000 efforts=none,low,medium,high,xhigh chatTools=unworded
gpt-5-mini medium retires=2026-12-11 contextWindow=400000 efforts=minimal,low,medium,high temperature=none
gpt-4.1-mini medium retires=2027-01-14 contextWindow=1047576 workingWindow=1047576 maxOutputTokens=32768 thinking= efforts= usualEffort= temperature=any stopSequences=yes editTool=replace sendBack=nothing
gpt-6-luna small chatTools=off
gpt-5.6-luna small chatTools=off
gpt-5.4-nano small retires=2027-04-01 contextWindow=400000 efforts=none,low,medium,high,xhigh chatTools=unworded
gpt-5-nano small retires=2026-12-11 contextWindow=400000 efforts=minimal,low,medium,high temperature=none
gpt-4o-mini small retires=2027-01-14 contextWindow=128000 workingWindow=128000 maxOutputTokens=16384 thinking= efforts= usualEffort= temperature=any stopSequences=yes editTool=replace sendBack=nothing
`,
  kinOf(id) {
    if (/^gpt-(?:3|4)/.test(id) || /^chatgpt/.test(id)) return "gpt-4o";
    if (/^o\d/.test(id)) return "o3";
    if (/^gpt-5(?:-|$)/.test(id)) return "gpt-5";
    if (/^gpt-5\.3/.test(id)) return "gpt-5.3-codex";
    const [, five] = /^gpt-5\.(\d)/.exec(id) ?? [];
    if (five !== undefined && Number(five) <= 5) return `gpt-5.${five}`;
    if (!/^gpt-\d/.test(id)) return undefined;
    if (/luna|nano/.test(id)) return "gpt-6-luna";
    return /terra|mini/.test(id) ? "gpt-6.1-terra" : "gpt-6.1-sol";
  },
};
