import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { taskLines } from "./batch-model.ts";
import { run, tempFolder } from "./command.ts";

/** Nothing listens there: the port of the discard service is never given to anybody. */
const nowhere = "http://127.0.0.1:9";

describe("a batch that cannot go well", () => {
  const folder = tempFolder("batch-refused");
  const env = { HOME: folder, OUTRIDER_HOME: join(folder, "home"), ANTHROPIC_API_KEY: "x", ANTHROPIC_BASE_URL: nowhere };
  const tasks = join(folder, "tasks.jsonl");
  writeFileSync(tasks, taskLines(3));
  const onEngine = (ingress: string, admin: string): string[] => {
    return ["--engine", "restate", "--ingress", ingress, "--admin", admin, "--store", join(folder, "store")];
  };

  it("is refused at once where the engine does not answer, and leaves no folder in the way", async () => {
    const out = join(folder, "engine");
    const begun = await run(["batch", tasks, "--out", out, ...onEngine(nowhere, `${nowhere}/`)], { env });
    assert.equal(begun.code, 78, begun.stderr);
    assert.match(begun.stderr, /The ingress of the engine at http:\/\/127\.0\.0\.1:9 does not answer/);
    assert.match(begun.stderr, /The admin of the engine at http:\/\/127\.0\.0\.1:9 does not answer\. No task was started/);
    assert.ok(begun.ms < 30_000, `${begun.ms} ms`); // each task was waited for a minute before
    assert.equal(existsSync(out), false);
  });

  it("tells a server that is no engine from one that is not there", async () => {
    const { address, close } = await serve({ status: 404, body: "" });
    const begun = await run(["batch", tasks, "--out", join(folder, "other"), ...onEngine(address, address)], { env });
    close();
    assert.equal(begun.code, 78, begun.stderr);
    assert.match(begun.stderr, /The ingress of the engine at \S+ answers 404 to \/restate\/health/);
  });

  it("is refused at once where the engine has no workers", async () => {
    const { address, close } = await serve({ status: 200, body: '{"rows":[]}' });
    const out = join(folder, "idle");
    const begun = await run(["batch", tasks, "--out", out, ...onEngine(address, address)], { env });
    close();
    assert.equal(begun.code, 78, begun.stderr);
    assert.match(begun.stderr, /has no workers for \w+; outrider worker starts some\. No task was started/);
    assert.equal(existsSync(out), false);
  });

  it("wants addresses that are some", async () => {
    for (const wrong of ["localhost:8080", "127.0.0.1:8080", "ftp://x/", "engine"]) {
      const begun = await run(["batch", tasks, "--out", join(folder, "words"), ...onEngine(nowhere, wrong)], { env });
      assert.equal(begun.code, 64, begun.stderr);
      assert.match(begun.stderr, /--admin is an address such as http:/);
    }
  });

  for (const flag of ["--task-budget", "--max-budget"])
    it(`is refused with ${flag} for a model of unknown price, and leaves its place to the next try`, async () => {
      const out = join(folder, "unpriced");
      const begun = await run(["batch", tasks, "--out", out, "--model", "nobody-1", flag, "1"], { env });
      assert.equal(begun.code, 78, begun.stderr);
      assert.match(begun.stderr, /The price of anthropic\/nobody-1 is not known/);
      assert.doesNotMatch(begun.stderr, /cancelled/);
      assert.equal(existsSync(out), false);
    });

  it("is refused with a budget of one task alone, and keeps files of others", async () => {
    const [one, out] = [join(folder, "one.jsonl"), join(folder, "shared")];
    writeFileSync(one, '{"id":"a","prompt":"x"}\n{"id":"b","prompt":"x","maxBudgetUsd":1,"model":"nobody-1"}\n');
    mkdirSync(out);
    writeFileSync(join(out, "notes"), "");
    const begun = await run(["batch", one, "--out", out], { env });
    assert.equal(begun.code, 78, begun.stderr);
    assert.deepEqual(readdirSync(out), ["notes"]);
  });

  it("is refused with a rate for a provider that nobody knows, and told the nearest name", async () => {
    const cases = [
      ["--rpm", "NOBODY=5", /There is no provider NOBODY to limit\n/],
      ["--rpm", "antropic=5", /no provider antropic to limit; did you mean anthropic\?/],
      ["--tpm", "Anthropic=5", /no provider Anthropic to limit; did you mean anthropic\?/],
      ["--tpm", "open-router=5", /did you mean openrouter\?/],
    ] as const;
    for (const [flag, value, told] of cases) {
      const begun = await run(["batch", tasks, "--out", join(folder, "rates"), flag, value], { env });
      assert.equal(begun.code, 64, begun.stderr);
      assert.match(begun.stderr, told);
      assert.equal(existsSync(join(folder, "rates")), false);
      const limited = await run(["fleet", "limit", "--ingress", nowhere, "--admin", nowhere, flag, value], { env });
      assert.equal(limited.code, 64, limited.stderr);
      assert.match(limited.stderr, told);
    }
  });
});

async function serve({ status, body }: { status: number; body: string }): Promise<{ address: string; close(): void }> {
  const server = createServer((_, response) => {
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { address: `http://127.0.0.1:${port}`, close: () => server.close() };
}
