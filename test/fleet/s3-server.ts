import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type S3Server = { readonly url: string; readonly env: Record<string, string>; close(): Promise<void> };

/** A server from npm with one bucket, `runs`. It checks signatures. */
export async function startS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), "outrider-s3-"));
  const program = join(process.env.OUTRIDER_ROOT ?? "", "test/fleet/s3-process.mjs");
  const server = spawn(process.execPath, ["--openssl-legacy-provider", program, directory], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(server, "exit");
  const [port] = await Promise.race([once(server.stdout, "data"), ended]);
  return {
    url: `s3://runs/fleet/one?endpoint=http://127.0.0.1:${String(port).trim()}&region=eu-test-1`,
    env: { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" },
    async close() {
      server.kill();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
