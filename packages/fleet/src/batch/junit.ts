import { failureKind, type TaskResult } from "../run/task-result.ts";

/** Results as JUnit XML, one suite per model: what CI systems show as tests. */
export function toJunit(results: readonly TaskResult[]): string {
  const models = [...new Set(results.map(({ model }) => model))].sort();
  const suites = models.map((model) =>
    toSuite(
      model,
      results.filter((result) => result.model === model),
    ),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("")}</testsuites>\n`;
}

function toSuite(model: string, results: readonly TaskResult[]): string {
  const count = (isWanted: (result: TaskResult) => boolean): number => results.filter(isWanted).length;
  const facts = [
    `name="${toXml(model)}"`,
    `tests="${results.length}"`,
    `failures="${count(({ status }) => status === "failed")}"`,
    `errors="${count(({ status }) => status === "error" || status === "stopped")}"`,
    `skipped="${count(({ status }) => status === "cancelled")}"`,
    `time="${(results.reduce((sum, { wall_ms }) => sum + wall_ms, 0) / 1000).toFixed(3)}"`,
  ];
  return `  <testsuite ${facts.join(" ")}>\n${results.map(toCase).join("")}  </testsuite>\n`;
}

function toCase(result: TaskResult): string {
  const { unit_id, model, wall_ms, status } = result;
  const open = `    <testcase classname="${toXml(model)}" name="${toXml(unit_id)}" time="${(wall_ms / 1000).toFixed(3)}"`;
  if (status === "passed") return `${open}/>\n`;
  if (status === "cancelled") return `${open}><skipped/></testcase>\n`;
  const kind = status === "failed" ? "failure" : "error";
  const check: unknown = Object(result["check"]).output;
  const errors: unknown = result["errors"];
  const words = typeof check === "string" && check !== "" ? check : Array.isArray(errors) ? errors.map(String).join("\n") : "";
  return `${open}><${kind} message="${toXml(failureKind(result) ?? status)}">${toXml(words)}</${kind}></testcase>\n`;
}

/** Control characters have no place in XML, not even escaped. */
function toXml(text: string): string {
  return [...text]
    .map((sign) => (isAllowed(sign.codePointAt(0) ?? 0) ? sign : "\ufffd"))
    .join("")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function isAllowed(code: number): boolean {
  return (
    code === 9 ||
    code === 10 ||
    code === 13 ||
    (code >= 32 && !(code >= 0xd800 && code <= 0xdfff) && code < 0xfffe) ||
    code > 0xffff
  );
}
