import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCommand } from "./parse-command.ts";
import type { Policy } from "./policy.ts";
import { secretExpanded } from "./secret-expansions.ts";

function why(text: string, known: Pick<Policy, "environment" | "withheld"> = {}): string | undefined {
  return secretExpanded(text, parseCommand(text), known);
}

describe("a secret in a line that runs with the user's variables", () => {
  it("is told by the name of the variable", () => {
    assert.equal(why('echo "$GH_TOKEN"'), "it uses GH_TOKEN, which may hold a secret, where secrets are not withheld");
    assert.equal(why('echo "$HOME $CI $?"'), undefined);
  });

  it("is told by what is withheld, whatever its name", () => {
    assert.match(`${why('echo "$REPOSITORY"', { withheld: () => ["REPOSITORY"] })}`, /REPOSITORY/);
    assert.equal(why('echo "$REPOSITORY"', { withheld: () => ["OTHER"] }), undefined);
  });

  it("is not in a variable that only the line has set", () => {
    const text = 'for key in a b; do echo "$key"; done';
    assert.equal(why(text, { environment: new Set(["HOME"]) }), undefined);
    assert.match(`${why(text, { environment: new Set(["key"]) })}`, /key/);
    assert.match(`${why(text)}`, /key/);
    assert.match(`${why('echo "$key"', { environment: new Set(["HOME"]) })}`, /key/);
  });

  it("is found in a script for another shell, and not in other quoted texts", () => {
    assert.match(`${why("bash -c 'echo \"$GH_TOKEN\"'")}`, /GH_TOKEN/);
    assert.equal(why("grep '$GH_TOKEN' a.txt"), undefined);
  });
});
