import { isJsonObject, type JsonObject } from "../../protocol/content.ts";

/** What somebody has written down for the questions of a server. */
export type ElicitationPolicy =
  /** `accept` takes the values that the server proposes. */
  | { readonly type: "accept" | "decline" }
  /** Values for fields by name; a question that they do not answer goes on to the host. */
  | { readonly type: "answers"; readonly answers: JsonObject };

export type AskHost = (request: JsonObject) => Promise<JsonObject>;

/** An answer by what is written down, else by the host, else the news that nobody is there. */
export async function answerElicitation(
  request: JsonObject,
  { policy, ask }: { readonly policy?: ElicitationPolicy | undefined; readonly ask?: AskHost | undefined },
): Promise<JsonObject> {
  if (policy?.type === "decline") return { action: "decline" };
  const written = policy && answerOf(request, policy.type === "answers" ? policy.answers : {});
  if (written) return written;
  return ask ? withDefaults(request, await ask(request)) : { action: "cancel" };
}

/** A form that these values and the server's own fill in; undefined when something is missing, or when it is no form. */
function answerOf(request: JsonObject, answers: JsonObject): JsonObject | undefined {
  const { requestedSchema } = request;
  if (!isJsonObject(requestedSchema)) return undefined;
  const { properties, required } = requestedSchema;
  const fields = isJsonObject(properties) ? Object.keys(properties) : [];
  const given = Object.fromEntries(Object.entries(answers).filter(([name]) => fields.includes(name)));
  const answer = withDefaults(request, { action: "accept", content: given });
  const content = isJsonObject(answer["content"]) ? answer["content"] : {};
  const wanted = Array.isArray(required) ? required : [];
  return wanted.every((name) => typeof name === "string" && Object.hasOwn(content, name)) ? answer : undefined;
}

/** An accepted form with the values that the server's schema gives to fields nobody filled in. */
function withDefaults(request: JsonObject, answer: JsonObject): JsonObject {
  const { requestedSchema } = request;
  if (answer["action"] !== "accept" || !isJsonObject(requestedSchema)) return answer;
  const properties = isJsonObject(requestedSchema["properties"]) ? requestedSchema["properties"] : {};
  const given = isJsonObject(answer["content"]) ? answer["content"] : {};
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    isJsonObject(field) && field["default"] !== undefined ? [[name, field["default"]] as const] : [],
  );
  return { ...answer, content: { ...Object.fromEntries(defaults), ...given } };
}

/** `"accept"`, `"decline"`, or an object with values by the names of fields. */
export function parseElicitation(value: unknown, problem: (text: string) => Error): ElicitationPolicy {
  if (value === "accept" || value === "decline") return { type: value };
  if (isJsonObject(value)) return { type: "answers", answers: value };
  throw problem('elicitation must be "accept", "decline", or an object with values for fields');
}
