import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { model, run, tempFolder } from "./command.ts";

/** A port of this machine at which nothing listens. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

describe("a local server that does not listen", () => {
  for (const more of [[], ["--max-requests", "1"], ["--output-format", "stream-json", "--verbose"]]) {
    it(`is told at once by its address and what to check ${more.join(" ")}`, async () => {
      const port = await deadPort();
      const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: `http://localhost:${port}`, OUTRIDER_HOME: tempFolder() };
      const { code, stdout, stderr } = await run(["-p", "x", ...more], { env });
      const said = more.includes("stream-json") ? stdout : stderr;
      assert.equal(code, 1);
      assert.match(said, new RegExp(`localhost:${port} refused the connection \\(ECONNREFUSED\\)`));
      assert.match(said, /start the server, or correct the provider's base URL/);
      assert.doesNotMatch(stdout + stderr, /api_retry|retries|trying again/, "it is not tried again");
    });
  }
});

describe("a limit that hides a failure", () => {
  it("tells the failure", async () => {
    const { env, server } = await model(
      () => ({ status: 503, body: { error: { message: "The house is on fire" } } }),
      tempFolder(),
    );
    const ended = await run(["-p", "x", "--max-requests", "2"], { env });
    assert.deepEqual([ended.code, server.requests.length], [75, 2]);
    assert.match(ended.stderr, /\(--max-requests\): 2 requests were made, and the last failed: .*HTTP 503.*on fire/);
    const framed = await run(["-p", "x", "--max-requests", "1", "--output-format", "json"], { env });
    assert.match(JSON.stringify(JSON.parse(framed.stdout)), /one request was made, and the last failed: .*on fire/);
  });

  it("of time has its unit, also where nobody wrote one", async () => {
    const { env } = await model(() => ({ text: "Once upon", hang: true }), tempFolder());
    const ended = await run(["-p", "x", "--deadline", "1"], { env });
    assert.equal(ended.code, 124);
    assert.match(ended.stderr, /stopped: 1 s have passed \(--deadline\)/);
  });
});
