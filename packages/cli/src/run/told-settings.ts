import type { SessionPlan } from "@outrider/runtime/host";
import type { JsonObject, JsonValue } from "@outrider/runtime";

type Resolved = SessionPlan["resolved"];

/** What holds, and what each place says, for a host that asks for settings; secrets are hidden. */
export async function toldSettings({ explain, settings, files }: Resolved): Promise<JsonObject> {
  const effective: JsonObject = {};
  const places = new Map<string, JsonObject>();
  for (const { key, value, from } of await explain()) {
    if (value !== undefined) put(effective, key, value);
    for (const { scope, value: said, verdict } of from) {
      if (verdict === "ignored") continue;
      const name = `${scope}Settings`;
      const own = places.get(name) ?? {};
      places.set(name, own);
      put(own, key, said);
    }
  }
  const { model } = settings.claude;
  if (model !== undefined && effective["model"] === undefined) effective["model"] = model;
  return { effective, sources: [...places].map(([source, said]) => ({ source, settings: said })), files: [...files] };
}

/** `permissions.deny` stands in `permissions`. */
function put(into: JsonObject, key: string, value: JsonValue): void {
  const names = key.split(".");
  let object = into;
  for (const name of names.slice(0, -1)) {
    const next = Object.hasOwn(object, name) ? object[name] : undefined; // never what every object has
    const inner: JsonObject = typeof next === "object" && next !== null && !Array.isArray(next) ? next : {};
    object[name] = inner;
    object = inner;
  }
  object[names.at(-1) ?? key] = value;
}
