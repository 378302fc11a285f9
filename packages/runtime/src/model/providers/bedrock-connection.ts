import { RuntimeError } from "../../protocol/errors.ts";
import type { Attempt, Endpoint } from "../client.ts";
import { withoutLong } from "../capabilities/record.ts";
import { awsEventStream, isContextOverflow } from "../aws-event-stream.ts";
import { anthropicMessages } from "../dialects/anthropic-messages.ts";
import { claudeBetas } from "../dialects/claude-parameters.ts";
import { adaptDialect, withBetas, without } from "./adapt-dialect.ts";
import { bearer, type Connection, type ConnectSettings, firstSet, httpErrors, textOption } from "./definition.ts";

export async function connectBedrock(settings: ConnectSettings): Promise<Connection> {
  const region = textOption(settings, "region") ?? firstSet(settings.env, ["AWS_REGION", "AWS_DEFAULT_REGION"]);
  const baseURL = fillRegion(settings.baseURL, region);
  const authorize = await authorization(settings, region);
  return {
    dialect: adaptDialect(anthropicMessages, {
      options: (options) => without(options, ["region"]),
      body: (body, request) => ({
        anthropic_version: "bedrock-2023-05-31",
        ...withBetas(without(body, ["model", "stream"]), claudeBetas(request)),
      }),
    }),
    framing: awsEventStream,
    endpoint: ({ model }, attempt) => {
      const act = attempt.isWhole ? "invoke" : "invoke-with-response-stream";
      return authorize(`${baseURL}/model/${encodeURIComponent(withoutLong(model))}/${act}`, attempt);
    },
    toError: httpErrors(settings.definition, isContextOverflow),
  };
}

type Authorize = (url: string, attempt: Attempt) => Endpoint;

/** A given key is a Bedrock key; the access key of an account has a secret beside it and signs. */
async function authorization({ key, env }: ConnectSettings, region: string | undefined): Promise<Authorize> {
  if (key?.variable !== "AWS_ACCESS_KEY_ID") return (url) => ({ url, headers: bearer(key) });
  const secretAccessKey = firstSet(env, ["AWS_SECRET_ACCESS_KEY"]);
  if (!secretAccessKey) throw new RuntimeError("config", "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not");
  if (!region) throw noRegion();
  const sessionToken = firstSet(env, ["AWS_SESSION_TOKEN"]);
  const credentials = { accessKeyId: key.value, secretAccessKey, ...(sessionToken && { sessionToken }) };
  const { signRequest } = await import("../auth/sigv4.ts");
  return (url, { body, now }) => {
    const request = { method: "POST", url, headers: { "content-type": "application/json" }, body };
    return { url, headers: signRequest(request, { credentials, region, service: "bedrock", now }) };
  };
}

function fillRegion(baseURL: string, region: string | undefined): string {
  if (!baseURL.includes("{region}")) return baseURL;
  if (!region) throw noRegion();
  return baseURL.replace("{region}", region);
}

function noRegion(): RuntimeError {
  return new RuntimeError("config", "Amazon Bedrock needs a region: set AWS_REGION");
}
