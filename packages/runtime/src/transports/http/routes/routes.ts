import type { Route } from "../route.ts";
import { pageRoutes } from "../page/page-routes.ts";
import { fileRoutes } from "../page/file-routes.ts";
import { promptRoutes } from "./prompt-routes.ts";
import { questionRoutes } from "./question-routes.ts";
import { serverRoutes } from "./server-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { watchRoutes } from "./watch-routes.ts";
import { workRoutes } from "./work-routes.ts";

export const routes: readonly Route[] = [
  ...serverRoutes,
  ...sessionRoutes,
  ...promptRoutes,
  ...watchRoutes,
  ...questionRoutes,
  ...workRoutes,
  ...fileRoutes,
  ...pageRoutes,
];
