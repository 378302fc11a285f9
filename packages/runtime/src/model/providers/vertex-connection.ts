import { readFile } from "node:fs/promises";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ServiceAccount, TokenSource } from "../auth/service-account.ts";
import type { Dialect } from "../dialect.ts";
import { withoutLong } from "../capabilities/record.ts";
import { adaptDialect, withBetas, without } from "./adapt-dialect.ts";
import { type Connection, type ConnectSettings, firstSet, geminiAct, httpErrors, textOption } from "./definition.ts";

export async function connectVertex(settings: ConnectSettings): Promise<Connection> {
  const access = await openAccess(settings);
  const toError = httpErrors(settings.definition, isContextOverflow);
  const location = textOption(settings, "location") ?? firstSet(settings.env, locationVariables) ?? "global";
  const parent = `v1/projects/${projectOf(settings, access.project)}/locations/${location}/publishers`;
  const root = `${hostOf(settings.baseURL, location)}/${parent}`;
  return {
    dialect: await loadDialect(settings.model ?? ""),
    async endpoint({ model }, attempt) {
      const name = encodeURIComponent(withoutLong(model)).replace("%40", "@");
      const url = isClaude(model)
        ? `${root}/anthropic/models/${name}:${attempt.isWhole ? "rawPredict" : "streamRawPredict"}`
        : `${root}/google/models/${name}:${geminiAct(attempt)}`;
      return { url, headers: { authorization: `Bearer ${await access.token(attempt)}` } };
    },
    toError: (failure) => toError({ ...failure, body: failure.body.replace(/^\s*\[([\s\S]*)\]\s*$/, "$1") }), // a list of one error
    close: access.close,
  };
}

/** The global endpoint and those of whole continents have names of their own. */
function hostOf(baseURL: string, location: string): string {
  if (location === "global") return baseURL.replace("{location}-", "");
  if (location === "us" || location === "eu") return baseURL.replace("{location}-aiplatform", `aiplatform.${location}.rep`);
  return baseURL.replace("{location}", location);
}

const locationVariables = ["GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"];
const projectVariables = ["GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID", "GCLOUD_PROJECT"];

type Access = { token: TokenSource; project: string | undefined; close(): void };

/** A given key is an access token; the path of a key file becomes one token after the other. */
async function openAccess({ key, env, ca }: ConnectSettings): Promise<Access> {
  const value = key?.value ?? "";
  if (key?.variable !== "GOOGLE_APPLICATION_CREDENTIALS") return { token: async () => value, project: undefined, close() {} };
  const [{ createTokenSource, parseServiceAccount }, { createHttpClient }] = await Promise.all([
    import("../auth/service-account.ts"),
    import("../http.ts"),
  ]);
  const account: ServiceAccount = parseServiceAccount(await readKeyFile(value), value);
  const http = createHttpClient({ env, ca });
  return { token: createTokenSource(account, http), project: account.project, close: () => http.close() };
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new RuntimeError("config", `The key file ${path} cannot be read`, {
      cause,
      hint: "Check GOOGLE_APPLICATION_CREDENTIALS",
    });
  }
}

function projectOf(settings: ConnectSettings, ofAccount: string | undefined): string {
  const project = textOption(settings, "project") ?? firstSet(settings.env, projectVariables) ?? ofAccount;
  if (project) return project;
  throw new RuntimeError("config", "Google Vertex AI needs a project: set GOOGLE_CLOUD_PROJECT");
}

/** Which wire a request speaks follows from its model, which may change from request to request. */
async function loadDialect(defaultModel: string): Promise<Dialect> {
  const [{ anthropicMessages }, { claudeBetas }, { gemini }] = await Promise.all([
    import("../dialects/anthropic-messages.ts"),
    import("../dialects/claude-parameters.ts"),
    import("../dialects/gemini.ts"),
  ]);
  const options = (all: ConnectSettings["options"]) => without(all, ["project", "location"]);
  const claude = adaptDialect(anthropicMessages, {
    options,
    body: (body, request) => ({
      anthropic_version: "vertex-2023-10-16",
      ...withBetas(without(body, ["model"]), claudeBetas(request)),
    }),
  });
  const google = adaptDialect(gemini, { options });
  const pick = (model: string): Dialect => (isClaude(model) ? claude : google);
  return {
    id: "vertex",
    nativeSchema: pick(defaultModel).nativeSchema,
    fitsSchema: (schema) => pick(defaultModel).fitsSchema?.(schema) ?? true,
    encode: (request, tell) => pick(request.model).encode(request, tell),
    decoder: (request, provider) => pick(request.model).decoder(request, provider),
  };
}

function isClaude(model: string): boolean {
  return model.startsWith("claude");
}

function isContextOverflow(message: string): boolean {
  return /prompt is too long|exceeds the maximum (number of )?(input )?tokens|input token count/i.test(message);
}
