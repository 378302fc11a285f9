import { render } from "preact";
import { type ComparedRuns, ComparePage } from "./compare-page.tsx";
import { restoreTheme } from "./theme.ts";

restoreTheme();
const root = document.getElementById("page");
const data = document.getElementById("data")?.textContent;
if (root && data) render(<ComparePage {...(JSON.parse(data) as ComparedRuns)} />, root);
