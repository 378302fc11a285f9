import type { Answer } from "../../permissions/gate.ts";
import { isJsonObject } from "../../protocol/content.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import { oneLine } from "./describe-call.ts";
import type { PermissionOption } from "./wire.ts";

/** What a person may say to a question. Only what has a rule can be remembered: the yes would not know what it is for. */
export function permissionOptions({ rule }: Pick<PermissionRequest, "rule">): PermissionOption[] {
  const lasting: PermissionOption[] =
    rule === undefined
      ? []
      : [
          { optionId: "allow-session", name: oneLine(`Allow in this session: ${rule}`), kind: "allow_always" },
          { optionId: "allow-project", name: oneLine(`Always allow in this project: ${rule}`), kind: "allow_always" },
        ];
  return [
    { optionId: "allow", name: "Allow once", kind: "allow_once" },
    ...lasting,
    { optionId: "reject", name: "Reject", kind: "reject_once" },
  ];
}

/** Anything but a yes that was offered is a no. */
export function toAnswer(response: unknown, options: readonly PermissionOption[]): Answer {
  const outcome = isJsonObject(response) ? response["outcome"] : undefined;
  if (!isJsonObject(outcome)) return { decision: "deny", message: "The answer to the permission question made no sense." };
  if (outcome["outcome"] === "cancelled") return { decision: "deny", message: "The permission question was cancelled." };
  const chosen = options.find(({ optionId }) => outcome["outcome"] === "selected" && optionId === outcome["optionId"]);
  switch (chosen?.optionId) {
    case "allow":
      return { decision: "allow" };
    case "allow-session":
      return { decision: "allow", remember: "session" };
    case "allow-project":
      return { decision: "allow", remember: "project" };
    case "reject":
      return { decision: "deny", message: "The user said no." };
    default:
      return { decision: "deny", message: "The answer to the permission question was none of those that were offered." };
  }
}
