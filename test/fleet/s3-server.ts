import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type S3Server = { readonly url: string; readonly env: Record<string, string>; close(): Promise<void> };

type S3rver = { run(): Promise<AddressInfo>; close(): Promise<void> };

/** A server from npm with one bucket, `runs`. It checks signatures. */
export async function startS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), "outrider-s3-"));
  const Server = createRequire(import.meta.url)("s3rver") as new (options: object) => S3rver; // it has no types
  const server = new Server({
    directory,
    address: "127.0.0.1",
    port: 0,
    silent: true,
    configureBuckets: [{ name: "runs", configs: [] }],
  });
  const { port } = await server.run();
  return {
    url: `s3://runs/fleet/one?endpoint=http://127.0.0.1:${port}&region=eu-test-1`,
    env: { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" },
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
