import { isJsonObject, type JsonObject } from "../../protocol/content.ts";

/** An accepted form with the values that the server's schema gives to fields nobody filled in. */
export function withDefaults(request: JsonObject, answer: JsonObject): JsonObject {
  const { requestedSchema } = request;
  if (answer["action"] !== "accept" || !isJsonObject(requestedSchema)) return answer;
  const properties = isJsonObject(requestedSchema["properties"]) ? requestedSchema["properties"] : {};
  const given = isJsonObject(answer["content"]) ? answer["content"] : {};
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    isJsonObject(field) && field["default"] !== undefined ? [[name, field["default"]] as const] : [],
  );
  return { ...answer, content: { ...Object.fromEntries(defaults), ...given } };
}
