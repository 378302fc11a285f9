import assert from "node:assert/strict";
import { it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { createProvider } from "../../packages/runtime/src/model/providers/create-provider.ts";
import { requireProvider } from "../../packages/runtime/src/model/providers/definitions.ts";
import { userText } from "../../packages/runtime/src/protocol/content.ts";

it("a server that others wrote streams Bedrock's frames, and they are understood", async () => {
  const mock = new LLMock({ port: 0, host: "127.0.0.1" });
  mock.onMessage(/hi/, { content: "Hello from another's Bedrock" });
  const baseURL = await mock.start();
  const settings = { env: { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "s", AWS_REGION: "us-east-1" }, baseURL };
  const provider = await createProvider(requireProvider("bedrock"), settings);
  try {
    const request = { model: provider.model, system: "", messages: [userText("hi")], tools: [] };
    let text = "";
    let finish: string | undefined;
    for await (const event of provider.stream(request, { signal: new AbortController().signal })) {
      if (event.type === "text.delta") text += event.text;
      if (event.type === "finished") finish = event.message.finish;
    }
    assert.deepEqual([text, finish], ["Hello from another's Bedrock", "stop"]);
  } finally {
    provider.close();
    await mock.stop();
  }
});
