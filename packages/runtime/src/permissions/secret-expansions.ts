import { isSecretName } from "../util/secret-names.ts";
import { expandedNames } from "./expanded-names.ts";
import type { ParsedCommand } from "./parsed-command.ts";
import type { Policy } from "./policy.ts";

/**
 * Why a line that runs with the user's own variables may show one that is withheld elsewhere: it can print a secret in a form that nobody
 * recognises, letter by letter for instance.
 */
export function secretExpanded(
  text: string,
  { settings, programs }: Pick<ParsedCommand, "settings" | "programs">,
  { environment, withheld }: Pick<Policy, "environment" | "withheld">,
): string | undefined {
  const hasInner = programs.some(({ inside }) => inside.length > 0);
  // What the line alone has set is no secret: putting one into it is seen where that happens.
  const isOwn = (name: string): boolean =>
    environment !== undefined && !environment.has(name) && settings.some((setting) => setting.name === name);
  const isSecret = (name: string): boolean => (isSecretName(name) && !isOwn(name)) || withheld?.().includes(name) === true;
  const secret = [...expandedNames(text, hasInner)].find(isSecret);
  return secret && `it uses ${secret}, which may hold a secret, where secrets are not withheld`;
}
