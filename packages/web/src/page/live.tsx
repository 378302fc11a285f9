import { render } from "preact";
import { Api } from "../live/api.ts";
import { Start } from "../live/start.tsx";
import { restoreTheme } from "./theme.ts";

restoreTheme();
const root = document.getElementById("page");
if (root) render(<Start api={new Api()} />, root);
