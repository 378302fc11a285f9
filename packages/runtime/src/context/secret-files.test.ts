import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keepsSecrets } from "./secret-files.ts";

describe("files that keep secrets", () => {
  for (const path of [
    ...["/p/.env", "/p/.env.local", "/p/.envrc", "/p/prod.env", "/p/.ENV", "/h/.netrc", "/h/_netrc", "/p/.npmrc", "/p/.pypirc"],
    ...["/h/.pgpass", "/h/.git-credentials", "/h/x/id_ed25519", "/p/server.pem", "/p/server.key", "/p/store.p12", "/p/a.kdbx"],
    ...["/p/credentials.json", "/p/secrets.yaml", "/p/secret", "/p/client_secret.json", "/p/service-account-prod.json"],
    ...["/h/.ssh/config", "/p/.git/config", "/h/.gnupg/x", "/h/.aws/config", "/h/.kube/config", "/h/.docker/config.json"],
    ...["C:\\h\\.ssh\\known_hosts", ".env"],
  ])
    it(`${path} is one`, () => assert.equal(keepsSecrets(path), true));

  for (const path of [
    ...[
      "/p/AGENTS.md",
      "/p/docs/secrets.md",
      "/p/env.md",
      "/p/environment",
      "/p/config",
      "/p/config.json",
      "/h/.kube/config.json",
    ],
    ...["/h/.docker/config", "/h/.kube/cache/config", "/h/.docker/x/config.json", "/p/.aws.md", "/h/.aws/sso/x", "/p/keys.md"],
  ])
    it(`${path} is none`, () => assert.equal(keepsSecrets(path), false));
});
