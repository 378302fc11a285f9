import { render } from "preact";
import type { RunList } from "../model/run-summary.ts";
import { IndexPage } from "./index-page.tsx";
import { restoreTheme } from "./theme.ts";

restoreTheme();
const root = document.getElementById("page");
const data = document.getElementById("data")?.textContent;
if (root && data) render(<IndexPage list={JSON.parse(data) as RunList} />, root);
