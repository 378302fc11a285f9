import { pathToFileURL } from "node:url";
import type { JsonObject } from "../../protocol/content.ts";
import type { Client } from "@modelcontextprotocol/client";
import { answerElicitation, type ElicitationPolicy } from "./elicitation.ts";
import type { ClientAbilities } from "./reach-options.ts";

/** The revisions of the protocol that begin with `initialize`, or those from 2026-07-28 on, which begin with `server/discover`. */
export type ProtocolEra = "legacy" | "modern";

/** The official client, which is loaded with the first server. */
export async function createClient(
  server: string,
  {
    elicit,
    roots,
    policy,
    era,
  }: ClientAbilities & { readonly policy?: ElicitationPolicy | undefined; readonly era: ProtocolEra },
): Promise<Client> {
  const [{ Client }, { outputValidator }] = await Promise.all([import("./official-client.ts"), import("./output-validator.ts")]);
  const client = new Client(
    { name: "outrider", version: OUTRIDER_VERSION },
    {
      capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
      jsonSchemaValidator: outputValidator,
      ...(era === "modern" && { versionNegotiation: { mode: "auto" } }),
    },
  );
  client.setRequestHandler("roots/list", () => ({
    roots: roots.map((path) => ({ uri: pathToFileURL(path).href, name: path.split("/").at(-1) || path })),
  }));
  client.setRequestHandler("elicitation/create", async (request, context) => {
    const asked = request.params as unknown as JsonObject; // checked by the client
    const ask = elicit && ((question: JsonObject) => elicit(server, question, context.mcpReq.signal));
    const answer = await answerElicitation(asked, { policy, ask });
    return answer as { action: "accept" | "decline" | "cancel" }; // the client checks it before it is sent
  });
  return client;
}

declare const OUTRIDER_VERSION: string;
