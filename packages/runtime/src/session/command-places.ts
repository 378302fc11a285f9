import type { SessionFacts } from "../protocol/events.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { CommandPlaces } from "../workspace/open-workspace.ts";

/** What everybody who watches the session is told. */
export function placeFacts(places: CommandPlaces | undefined): Pick<SessionFacts, "sandbox" | "places"> {
  if (!places) return {};
  const { sandbox, boxed, network, reason } = places;
  if (sandbox === "client") return { sandbox };
  const withheld = [...places.withheld()];
  return { sandbox, places: { boxed, network, withheld, ...(reason !== undefined && { reason }) } };
}

/** One line for the model. Nothing where nothing is boxed. */
export function describePlaces({ sandbox, boxed, network, withheld }: CommandPlaces, mode: PermissionMode): string | undefined {
  if (sandbox !== "bubblewrap" || (boxed === "unasked" && mode === "bypassPermissions")) return undefined;
  const who =
    boxed === "everything" ? "Every command runs" : "A command that a rule or a person allows runs as the user; any other runs";
  const reach = { none: "no network", domains: "network for listed domains only", open: "the machine's network" }[network];
  const names = withheld();
  const missing = names.length > 0 ? `, and without these variables: ${names.join(", ")}` : "";
  const way =
    mode === "sandboxed" && boxed !== "everything" ? " dangerouslyDisableSandbox asks for permission to run one outside." : "";
  return `${who} in a sandbox: the project is writable, home is empty, /tmp is its own, ${reach}${missing}.${way}`;
}
