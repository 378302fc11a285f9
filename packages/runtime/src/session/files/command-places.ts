import type { SessionFacts } from "../../protocol/events.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import type { CommandPlaces } from "../../workspace/open-workspace.ts";
import { defined } from "../../util/defined.ts";

type PlacesNow = NonNullable<SessionFacts["places"]>;

/** What everybody who watches the session is told, in its mode. */
export function placeFacts(places: CommandPlaces, mode: PermissionMode): Pick<SessionFacts, "sandbox" | "places"> {
  const { sandbox, reason } = places;
  if (sandbox === "client") return { sandbox };
  return { sandbox, places: { ...placesIn(places, mode), ...defined({ reason }) } };
}

/** One line for the model. Nothing where nothing is boxed. */
export function describePlaces(places: CommandPlaces, mode: PermissionMode): string | undefined {
  const { boxed, network, withheld } = placesIn(places, mode);
  if (places.sandbox !== "bubblewrap" || boxed === "nothing") return undefined;
  const who =
    boxed === "everything" ? "Every command runs" : "A command that a rule or a person allows runs as the user; any other runs";
  const reach = { none: "no network", domains: "network for listed domains only", open: "the machine's network" }[network];
  const missing = withheld.length > 0 ? `, and without these variables: ${withheld.join(", ")}` : "";
  const way =
    mode === "sandboxed" && boxed !== "everything" ? " dangerouslyDisableSandbox asks for permission to run one outside." : "";
  return `${who} in a sandbox: the project is writable, home is empty, /tmp is its own, ${reach}${missing}.${way}`;
}

/** Where permissions are bypassed, the user has let everything run. */
function placesIn({ boxed, network, withheld }: CommandPlaces, mode: PermissionMode): PlacesNow {
  if (mode !== "bypassPermissions" || boxed === "everything") return { boxed, network, withheld: [...withheld("mode")] };
  return { boxed: "nothing", network: "open", withheld: [...withheld("user")] };
}
