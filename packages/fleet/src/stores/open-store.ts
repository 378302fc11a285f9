import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import { type ObjectStore, StoreFailed } from "./object-store.ts";

/**
 * A store by its address: a folder (`/srv/runs`, `file:///srv/runs`), `s3://BUCKET/PREFIX?endpoint=URL&region=NAME` with the usual `AWS_…`
 * variables, or `postgres://…`.
 */
export async function openStore(address: string, env: Readonly<Record<string, string | undefined>>): Promise<ObjectStore> {
  const scheme = /^([a-z][a-z0-9+]+):\/\//.exec(address)?.[1];
  if (scheme === undefined || scheme === "file") {
    const { openFolderStore } = await import("./folder-store.ts");
    return openFolderStore(scheme ? fileURLToPath(address) : resolve(address));
  }
  if (scheme === "postgres" || scheme === "postgresql") {
    const { openPostgresStore } = await import("./postgres-store.ts");
    return await openPostgresStore(address);
  }
  if (scheme !== "s3")
    throw new StoreFailed(`There is no store for ${scheme}:// addresses; name a folder, s3://BUCKET or postgres://…`);
  const { host: bucket, pathname, searchParams } = new URL(address);
  const region = searchParams.get("region") ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? "us-east-1";
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = env;
  if (!accessKeyId || !secretAccessKey)
    throw new StoreFailed("A store in S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment");
  const { openS3Store } = await import("./s3-store.ts");
  const path = pathname.replace(/^\/+|\/+$/g, "");
  return openS3Store({
    bucket,
    prefix: path === "" ? "" : `${path}/`,
    endpoint:
      searchParams.get("endpoint") ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`,
    key: { accessKeyId, secretAccessKey, sessionToken, region },
  });
}
