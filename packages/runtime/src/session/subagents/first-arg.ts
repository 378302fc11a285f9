import { isRecord } from "../../util/is-record.ts";

const argLength = 120;

/** The first text a call is made with, for people who watch: mostly a command or a path. */
export function firstArgOf(input: unknown): { firstArg?: string } {
  const first = isRecord(input) ? Object.values(input).find((value) => typeof value === "string") : undefined;
  if (typeof first !== "string") return {};
  const [line = ""] = first.split("\n");
  return { firstArg: line.length > argLength ? `${line.slice(0, argLength - 1)}…` : line };
}
