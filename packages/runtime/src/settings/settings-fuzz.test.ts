import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import type { JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { isClaudeKey } from "./claude-keys.ts";
import { parseJsonObject } from "./json-text.ts";
import type { SettingScope, SettingsLayer } from "./layers.ts";
import { mergeJson } from "./merge.ts";
import { resolveSettings } from "./resolve.ts";
import { settingsSchema } from "./schema.ts";
import type { ResolvedSettings } from "./settings.ts";

const scopes: readonly SettingScope[] = ["user", "project", "local", "flag"];
const dialects = ["outrider", "claude"] as const;

function toLayer(scope: SettingScope, dialect: SettingsLayer["dialect"], text: string): SettingsLayer {
  return { scope, dialect, path: `/${scope}.json`, ...parseJsonObject(text, `/${scope}.json`) };
}

/** What is explained meanwhile: one that fails makes the file fail. */
const explained: Promise<unknown>[] = [];
after(async () => void (await Promise.all(explained)));

/** The settings, or undefined when they are refused; anything but a refusal is a failure. */
function attempt(work: () => ResolvedSettings): ResolvedSettings | undefined {
  const before = Reflect.ownKeys(Object.prototype).length;
  try {
    const resolved = work();
    explained.push(resolved.explain());
    return resolved;
  } catch (error) {
    assert.ok(error instanceof RuntimeError && error.code === "config", error instanceof Error ? error.stack : String(error));
    return undefined;
  } finally {
    assert.deepEqual(
      [Reflect.ownKeys(Object.prototype).length, ({} as Record<string, unknown>)["polluted"]],
      [before, undefined],
    );
  }
}

const trickyNames = fc.constantFrom(
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "polluted",
  "",
  "*",
  "a.b",
  "hasOwnProperty",
  "0",
);
const knownNames = fc.constantFrom(
  ...new Set(settingsSchema.flatMap(({ key }) => key.split("."))),
  "enabled",
  "filesystem",
  "statusLine",
);
const trickyValues = fc.oneof(
  fc.constantFrom<JsonValue>(
    "Bash(rm:*)",
    "plan",
    "bypassPermissions",
    "openai",
    "$ENV:X",
    "auto",
    "off",
    1,
    0,
    -1,
    1e308,
    true,
    null,
  ),
  fc.string(),
);
const tree = fc.letrec<{ value: JsonValue; object: Record<string, JsonValue> }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    trickyValues,
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(
    fc.oneof({ arbitrary: knownNames, weight: 5 }, { arbitrary: trickyNames, weight: 2 }, fc.string()),
    tie("value"),
    {
      maxKeys: 4,
      noNullPrototype: true,
    },
  ),
}));

/** Valid settings of every key, so that merging is reached. */
const rule = fc.constantFrom("Bash(rm:*)", "Bash", "Read(./.env)", "WebFetch(domain:a.example)", "mcp__x__y", "Edit", "Task");
const rules = fc.array(rule, { maxLength: 4 });
const texts = fc.array(fc.constantFrom("a", "b", "constructor", "./x", "a.example"), { maxLength: 3 });
const named = <T>(value: fc.Arbitrary<T>) =>
  fc.dictionary(fc.constantFrom("a", "b", "constructor", "toString"), value, { maxKeys: 2 });
const optional = <T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(shape, { requiredKeys: [] });
const valid = optional({
  permissions: optional({
    allow: rules,
    ask: rules,
    deny: rules,
    defaultMode: fc.constantFrom("plan", "default", "acceptEdits", "dontAsk", "bypassPermissions"),
    additionalDirectories: texts,
  }),
  hooks: named(fc.array(fc.record({ hooks: fc.constant([]) }), { maxLength: 2 })),
  disableAllHooks: fc.boolean(),
  env: named(fc.string().filter((text) => !text.includes("\0"))),
  model: fc.constantFrom("m", "n"),
  providers: named(
    fc.record({
      type: fc.constantFrom("openai", "ollama"),
      model: fc.constantFrom("m", "n"),
      options: named(named(fc.jsonValue({ maxDepth: 2 }))),
    }),
  ),
  mcpServers: named(fc.record({ command: fc.constant("x") })),
  sandbox: optional({
    mode: fc.constantFrom("auto", "require", "off"),
    network: optional({ allowed: fc.boolean(), domains: texts }),
    denyRead: texts,
    denyWrite: texts,
    limits: optional({ processes: fc.integer({ min: 1, max: 99 }) }),
  }),
});
const files = fc.array(fc.record({ scope: fc.constantFrom(...scopes), dialect: fc.constantFrom(...dialects), values: valid }), {
  maxLength: 6,
});

function toLayers(
  generated: readonly { scope: SettingScope; dialect: SettingsLayer["dialect"]; values: object }[],
): SettingsLayer[] {
  return generated
    .toSorted((a, b) => scopes.indexOf(a.scope) - scopes.indexOf(b.scope))
    .flatMap(({ scope, dialect, values }) => {
      const text = JSON.stringify(values, null, 1);
      return text.includes('"__proto__":') ? [] : [toLayer(scope, dialect, text)];
    });
}

describe("settings, whatever is in the files", () => {
  it("are refused with a configuration error or taken, and no prototype changes", () => {
    const sources = fc.tuple(fc.constantFrom(...scopes), fc.constantFrom(...dialects), tree.object);
    let taken = 0;
    fc.assert(
      fc.property(fc.array(sources, { minLength: 1, maxLength: 3 }), fc.boolean(), (all, trusted) => {
        const resolve = () =>
          resolveSettings(
            all.map(([scope, dialect, values]) => toLayer(scope, dialect, JSON.stringify(values))),
            { trusted },
          );
        if (attempt(resolve)) taken++;
      }),
      { numRuns: 3_000 },
    );
    assert.ok(taken > 100, `only ${taken} were taken: the generator reaches nothing`);
  });

  it("keep every deny and ask rule of every file, trusted or not, and the hooks of each", () => {
    fc.assert(
      fc.property(files, fc.boolean(), (generated, trusted) => {
        const layers = toLayers(generated);
        const { settings } = attempt(() => resolveSettings(layers, { trusted })) ?? assert.fail("valid settings were refused");
        for (const list of ["deny", "ask"] as const) {
          const written = layers.flatMap(
            ({ values }) => (values["permissions"] as Record<string, string[]> | undefined)?.[list] ?? [],
          );
          assert.deepEqual(settings.permissions[list].map(({ text }) => text).sort(), [...new Set(written)].sort());
        }
        assert.deepEqual(
          settings.hooks.map(({ value }) => value),
          layers.flatMap(({ values }) => values["hooks"] ?? []),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("never get looser by a project nobody trusts", () => {
    const modes = ["bypassPermissions", "acceptEdits", "default", "dontAsk", "plan"];
    const sandboxes = ["off", "auto", "require"];
    fc.assert(
      fc.property(files, (generated) => {
        const layers = toLayers(generated).filter(({ scope }) => scope !== "flag");
        const alone = resolveSettings(
          layers.filter(({ scope }) => scope === "user"),
          { trusted: false },
        ).settings;
        const { settings } = resolveSettings(layers, { trusted: false });
        const stricter = {
          mode:
            modes.indexOf(settings.permissions.defaultMode ?? "default") >=
            modes.indexOf(alone.permissions.defaultMode ?? "default"),
          sandbox: sandboxes.indexOf(settings.sandbox.mode) >= sandboxes.indexOf(alone.sandbox.mode),
          network: !settings.sandbox.network.allowed || alone.sandbox.network.allowed,
          processes: (settings.sandbox.limits.processes ?? Infinity) <= (alone.sandbox.limits.processes ?? Infinity),
        };
        assert.deepEqual(stricter, { mode: true, sandbox: true, network: true, processes: true });
        const same = ({ permissions, env, model, provider, mcpServers, sandbox, disableAllHooks }: typeof settings) => [
          permissions.allow,
          permissions.additionalDirectories,
          env,
          model,
          provider,
          mcpServers,
          sandbox.network.domains,
          disableAllHooks,
        ];
        assert.deepEqual(same(settings), same(alone));
        assert.deepEqual(
          settings.hooks.filter(({ trusted }) => trusted).map(({ source }) => source),
          alone.hooks.map(({ source }) => source),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("say every value of every file in explain, with what became of it", async () => {
    await fc.assert(
      fc.asyncProperty(files, fc.boolean(), async (generated, trusted) => {
        const layers = toLayers(generated);
        for (const { key, value, from } of await resolveSettings(layers, { trusted }).explain()) {
          const winners = from.filter(({ verdict }) => verdict === "won");
          assert.ok(winners.length <= 1, key);
          if (winners[0]) assert.deepEqual(value, winners[0].value, key);
          assert.ok(
            from.every(({ verdict, why }) => (verdict === "ignored") === (why !== undefined)),
            key,
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("mergeJson", () => {
  const replace = (_: JsonValue, high: JsonValue): JsonValue => high;
  const shape = fc.record(
    { a: fc.nat(), b: fc.record({ c: fc.array(fc.nat()), constructor: fc.nat() }, { requiredKeys: [] }) },
    { requiredKeys: [] },
  );
  const plain = (value: JsonValue): unknown => JSON.parse(JSON.stringify(value));

  it("is the same in whatever order neighbours of one shape are merged, and nothing merged into itself changes", () => {
    fc.assert(
      fc.property(shape, shape, shape, (first, second, third) => {
        const [a, b, c] = [first, second, third] as JsonValue[] as [JsonValue, JsonValue, JsonValue]; // optional fields are absent, not undefined
        assert.deepEqual(
          plain(mergeJson(mergeJson(a, b, replace), c, replace)),
          plain(mergeJson(a, mergeJson(b, c, replace), replace)),
        );
        assert.deepEqual(plain(mergeJson(a, a, replace)), plain(a));
      }),
    );
  });

  it("takes names of Object's own like any other", () => {
    const merged = mergeJson(
      JSON.parse('{"constructor": {"a": 1}}'),
      JSON.parse('{"constructor": {"b": 2}, "toString": 1}'),
      replace,
    );
    assert.deepEqual(plain(merged), { constructor: { a: 1, b: 2 }, toString: 1 });
    assert.equal(Object.getPrototypeOf(merged), null);
  });
});

describe("the schema", () => {
  it("has each key once, and none that is passed over as Claude Code's, but for those whose meaning differs", () => {
    const keys = settingsSchema.map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length);
    assert.deepEqual(keys.filter(isClaudeKey), ["model", "fallbackModel"]);
  });
});
