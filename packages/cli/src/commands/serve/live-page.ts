import * as assets from "@outrider/web/assets/live";
import { policyOf, toPage } from "../report/page-html.ts";

const rules = ["connect-src 'self'", "require-trusted-types-for 'script'", "trusted-types 'none'"];

/** The page of the server. It asks nobody but the server itself, and nobody may put it into a frame. */
export function livePage(): { readonly html: string; readonly policy: string } {
  const html = toPage("Outrider", assets, {}, policyOf(assets, rules));
  return { html, policy: policyOf(assets, [...rules, "frame-ancestors 'none'"]) };
}
