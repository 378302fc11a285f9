import { render } from "preact";
import type { RunModel } from "../model/run-model.ts";
import { ReportPage } from "./report-page.tsx";
import { restoreTheme } from "./theme.ts";

const textOf = (id: string): string | undefined => document.getElementById(id)?.textContent ?? undefined;

restoreTheme();
const root = document.getElementById("page");
const data = textOf("run");
const trajectory = textOf("trajectory");
if (root && data)
  render(
    <ReportPage run={JSON.parse(data) as RunModel} download={trajectory === undefined ? undefined : () => trajectory} />,
    root,
  );
