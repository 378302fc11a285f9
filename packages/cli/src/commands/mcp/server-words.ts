import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import type { ServerScope } from "@outrider/runtime/admin";

/** The words of `outrider mcp`, read in the order in which Claude Code reads them: flags anywhere before `--`, then the server's own. */
export type ServerWords = {
  readonly positionals: readonly string[];
  readonly scope: ServerScope | undefined;
  readonly transport: string | undefined;
  readonly env: readonly string[];
  readonly headers: readonly string[];
  readonly cwd: string | undefined;
  readonly force: boolean;
  readonly json: boolean;
  /** `login`: what the login is to be good for, in the words of the server. */
  readonly scopes: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly callbackPort: string | undefined;
  readonly browser: boolean;
};

const spellings: Readonly<Record<string, string>> = { "-s": "--scope", "-t": "--transport", "-e": "--env", "-H": "--header" };
const login = ["--scopes", "--client-id", "--client-secret", "--callback-port"];
const valued = ["--scope", "--transport", "--env", "--header", "--cwd", ...login];
const switches = ["--force", "--json", "--no-browser"];
const scopes: readonly ServerScope[] = ["user", "project", "local"];

/** `isOpen`: what comes behind the second word belongs to the server, flags too. */
export function readServerWords(args: readonly string[], { usage, isOpen }: { usage: string; isOpen: boolean }): ServerWords {
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const given = new Set<string>();
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    const [start = "", inline] = word.split(/=(.*)/s);
    const flag = spellings[start] ?? start;
    if (word === "--") {
      positionals.push(...args.slice(index + 1));
      break;
    }
    if (valued.includes(flag)) {
      const value = inline ?? args[++index];
      if (value === undefined) throw new RuntimeError("usage", `${start} needs a value`);
      values.set(flag, [...(values.get(flag) ?? []), value]);
    } else if (switches.includes(word)) given.add(word);
    else if (word.startsWith("-") && !(isOpen && positionals.length >= 2)) throw unknownFlag(start, usage);
    else positionals.push(word);
  }
  return {
    positionals,
    scope: scopeOf(values.get("--scope")?.at(-1)),
    transport: values.get("--transport")?.at(-1),
    env: values.get("--env") ?? [],
    headers: values.get("--header") ?? [],
    cwd: values.get("--cwd")?.at(-1),
    force: given.has("--force"),
    json: given.has("--json"),
    scopes: values.get("--scopes")?.at(-1),
    clientId: values.get("--client-id")?.at(-1),
    clientSecret: values.get("--client-secret")?.at(-1),
    callbackPort: values.get("--callback-port")?.at(-1),
    browser: !given.has("--no-browser"),
  };
}

function scopeOf(text: string | undefined): ServerScope | undefined {
  const scope = scopes.find((one) => one === text);
  if (text === undefined || scope) return scope;
  throw new RuntimeError("usage", `--scope cannot be ${JSON.stringify(text)}. Choose from: ${scopes.join(", ")}`);
}

function unknownFlag(flag: string, usage: string): RuntimeError {
  const guess = nearest(flag, [...valued, ...switches]);
  return new RuntimeError("usage", `mcp has no flag ${flag}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`, {
    hint: "Flags of the server itself come after --",
  });
}
