import type { PlaceFacts } from "../../workspace/workspace.ts";

/** What a model should know of the place where a command failed: always that it was the sandbox, `reason` where that looks like the reason. */
export function placeNotes(facts: PlaceFacts, output: string): { readonly where?: string; readonly reason?: string } {
  const { place, network, withheld, mayLeave } = facts;
  const missing = withheld.filter((name) => output.includes(name));
  const wantsSecret = missing.length > 0 || (withheld.length > 0 && credentials.test(output));
  const withheldNote = wantsSecret ? [withheldText(missing.length > 0 ? missing : withheld)] : [];
  if (place === "outside") return wantsSecret ? { reason: withheldNote.join(" ") } : {};
  const reasons = [
    ...(network === "open" || !unreachable.test(output) ? [] : [networkTexts[network]]),
    ...(unwritable.test(output) ? ["Only the project and /tmp are writable there, and home is empty."] : []),
    ...withheldNote,
  ];
  const where = "(It ran in the sandbox.)";
  return reasons.length === 0 ? { where } : { where, reason: [...reasons, mayLeave ? wayOut : noWayOut].join(" ") };
}

const wayOut = "A rule of the user's for this command, or a yes to dangerouslyDisableSandbox, lets it run outside.";
const noWayOut = "Everything runs there, as --sandbox require wants it.";

const networkTexts = {
  none: "There is no network there.",
  domains: "Only the domains in the setting sandbox.network.domains can be reached from there.",
};

function withheldText(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(", ");
  const more = names.length > 8 ? ` and ${names.length - 8} more` : "";
  return `Not passed on to it: ${shown}${more}; --pass-env NAME does that.`;
}

const unreachable =
  /could ?n[o']t resolve|name resolution|getaddrinfo|ENOTFOUND|EAI_AGAIN|network is unreachable|ENETUNREACH|ECONNREFUSED|connection (?:refused|error)|failed to connect|could not connect|no route to host|unable to (?:connect|access)|dial tcp|nodename nor servname|proxy(?: error| connect|CONNECT)|\b403\b.*proxy/i;
const unwritable =
  /read-only file system|EROFS|permission denied|EACCES|operation not permitted|EPERM|unable to create|cannot create/i;
const credentials =
  /\b(?:401|403)\b|unauthori[sz]ed|authenticat|credential|not logged in|log ?in|access denied|api[ _-]?key|token/i;
