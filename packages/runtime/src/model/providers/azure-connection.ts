import type { Endpoint } from "../client.ts";
import { adaptDialect, without } from "./adapt-dialect.ts";
import { chatConnection } from "./compatible.ts";
import { bearer, type Connection, type ConnectSettings, firstSet, textOption } from "./definition.ts";

/** The newest version that is no preview; a resource's `/openai/v1` address needs none. */
const defaultApiVersion = "2024-10-21";

export async function connectAzure(settings: ConnectSettings): Promise<Connection> {
  const { dialect, toError } = await chatConnection(settings, { recordsOf: "openai" });
  const headers = authHeaders(settings);
  const url = addressOf(settings);
  return {
    dialect: adaptDialect(dialect, { options: (options) => without(options, ["apiVersion"]) }),
    endpoint: ({ model }): Endpoint => ({ url: url(model), headers }),
    toError,
  };
}

function authHeaders({ key }: ConnectSettings): Record<string, string> {
  return key?.variable === "AZURE_OPENAI_AD_TOKEN" ? bearer(key) : { "api-key": key?.value ?? "" };
}

function addressOf(settings: ConnectSettings): (deployment: string) => string {
  const { baseURL, env } = settings;
  if (/\/openai\/v1$/.test(baseURL)) return () => `${baseURL}/chat/completions`;
  const version =
    textOption(settings, "apiVersion") ?? firstSet(env, ["OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"]) ?? defaultApiVersion;
  const resource = baseURL.replace(/\/openai$/, "");
  return (deployment) =>
    `${resource}/openai/deployments/${encodeURIComponent(deployment)}/chat/completions?api-version=${encodeURIComponent(version)}`;
}
