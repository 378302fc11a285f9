import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { AwsV4Signer } from "aws4fetch";
import { type ObjectStore, openStore, removeRun, restoreRun, saveRun } from "@outrider/fleet";
import { storeConformance } from "@outrider/fleet/testing";
import { signRequest } from "../../packages/fleet/src/stores/sign-request.ts";
import { findPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";
import { type S3Server, startS3Server } from "./s3-server.ts";

const scratch = mkdtempSync(join(tmpdir(), "outrider-stores-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

describe("a store in a folder", () => {
  const open = (): Promise<ObjectStore> => openStore(join(scratch, "folder"), {});
  holds(open);

  it("leaves nothing half written behind when a put fails", async () => {
    const folder = join(scratch, "blocked");
    const store = await openStore(`file://${folder}`, {});
    mkdirSync(join(folder, "objects", "taken.object"), { recursive: true });
    await assert.rejects(store.put("taken", Buffer.from("x")));
    assert.deepEqual(execFileSync("ls", [join(folder, "incoming")]).toString(), "");
  });
});

describe("a store in S3", () => {
  let server: S3Server;
  before(async () => {
    server = await startS3Server();
  });
  after(() => server.close());
  holds(() => openStore(server.url, server.env), "the server writes into the object that it replaces");

  it("signs as another library does", async () => {
    const key = { accessKeyId: "AKID", secretAccessKey: "secret/+", sessionToken: "token", region: "eu-test-1" };
    const url = new URL("http://127.0.0.1:9/bucket/a%2525b/c~d.e?prefix=a%2Fb%20%2B&list-type=2");
    const now = new Date("2026-11-16T22:00:00.000Z");
    const body = Buffer.from("hello");
    const datetime = "20261116T220000Z";
    const hash = createHash("sha256").update(body).digest("hex");
    const signer = new AwsV4Signer({
      ...key,
      service: "s3",
      method: "PUT",
      url: url.href,
      body,
      datetime,
      headers: { "x-amz-content-sha256": hash },
    });
    const { headers } = await signer.sign();
    assert.equal(signRequest({ method: "PUT", url, body }, key, now).authorization, headers.get("authorization"));
  });

  it("says what was refused, without the key", async () => {
    const wrong = await openStore(server.url, { ...server.env, AWS_SECRET_ACCESS_KEY: "not-the-secret" });
    await assert.rejects(wrong.put("a", Buffer.from("x")), {
      name: "StoreFailed",
      message: /^The bucket runs at 127.*403 \(SignatureDoesNotMatch\)$/,
    });
  });

  it("tells a missing bucket from a missing object", async () => {
    const nowhere = await openStore(server.url.replace("s3://runs", "s3://elsewhere"), server.env);
    await assert.rejects(nowhere.get("a"), /There is no bucket elsewhere/);
    await assert.rejects(nowhere.list(""), /There is no bucket elsewhere/);
  });

  it("needs a key", async () => {
    await assert.rejects(openStore(server.url, {}), /AWS_ACCESS_KEY_ID/);
  });
});

const postgres = findPostgres();
describe("a store in Postgres", { skip: postgres === undefined && "there is no Postgres" }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres(postgres ?? "");
  });
  after(() => server.close());
  holds(() => openStore(server.url, {}));

  it("is made once by workers that start at the same time", async () => {
    const { openPostgresStore } = await import("../../packages/fleet/src/stores/postgres-store.ts");
    const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore(server.url, "made_at_once")));
    await stores[0]?.put("a", Buffer.from("x"));
    assert.equal(await stores[7]?.has("a"), true);
    for (const store of stores) await store.close();
  });
});

it("refuses an address that is none", async () => {
  await assert.rejects(openStore("ftp://somewhere/x", {}), /no store for ftp:/);
});

/** Every store passes the kit, and a run moves through it. */
function holds(open: () => Promise<ObjectStore>, isNoService?: string): void {
  for (const { name, run, isOfServices } of storeConformance) it(name, { skip: isOfServices && isNoService }, () => run(open));
  it("moves a run to another machine: journal, side files and working tree", async () => moveRun(await open(), await open()));
}

async function moveRun(store: ObjectStore, other: ObjectStore): Promise<void> {
  const machine = (name: string) => {
    const top = mkdtempSync(join(scratch, `${name}-`));
    return { runId: "batch 1/task é", journalFolder: join(top, "journal"), tree: join(top, "tree"), gitFolder: join(top, "git") };
  };
  const here = machine("here");
  mkdirSync(join(here.journalFolder, "blobs", "ab"), { recursive: true });
  writeFileSync(join(here.journalFolder, "s.jsonl"), "one\n");
  writeFileSync(join(here.journalFolder, "s.jsonl.lock"), "mine");
  writeFileSync(join(here.journalFolder, "blobs", "ab", "abc"), Buffer.from([0, 255, 1]));
  execFileSync("git", ["init", "-q", here.tree]);
  writeFileSync(join(here.tree, ".gitignore"), "ignored\n");
  writeFileSync(join(here.tree, "ignored"), "x");
  writeFileSync(join(here.tree, "gone-later"), "x");
  writeFileSync(join(here.tree, "program"), "#!/bin/sh\n");
  // What the agent writes into the checkout's configuration is never run by us.
  writeFileSync(join(here.tree, ".gitattributes"), "* filter=evil\n");
  execFileSync("git", ["-C", here.tree, "config", "filter.evil.clean", `touch ${join(here.tree, "..", "evil")}; cat`]);
  const nothing = machine("nothing").journalFolder;
  mkdirSync(nothing);
  assert.equal(await saveRun(store, { ...here, journalFolder: nothing, tree: undefined }), undefined);
  const first = await saveRun(store, here);
  assert.ok(first);
  writeFileSync(join(here.journalFolder, "s.jsonl"), "one\ntwo\n");
  rmSync(join(here.tree, "gone-later"));
  chmodSync(join(here.tree, "program"), 0o755);
  mkdirSync(join(here.tree, "deep"));
  writeFileSync(join(here.tree, "deep", "näme with space"), "untracked");
  symlinkSync("program", join(here.tree, "link"));
  const second = await saveRun(store, here, first);
  assert.ok(second);
  const objects = await store.list("runs/");
  assert.deepEqual(await saveRun(store, here, second), second);
  assert.deepEqual(await store.list("runs/"), objects); // what is there already is not put again
  assert.equal(existsSync(join(here.tree, "..", "evil")), false);

  const there = machine("there");
  const restored = await restoreRun(other, there, second.key);
  assert.deepEqual(restored, second);
  assert.equal(readFileSync(join(there.journalFolder, "s.jsonl"), "utf8"), "one\ntwo\n");
  assert.equal(existsSync(join(there.journalFolder, "s.jsonl.lock")), false);
  assert.deepEqual([...readFileSync(join(there.journalFolder, "blobs", "ab", "abc"))], [0, 255, 1]);
  const shown = ["ignored", "gone-later", "program", "deep/näme with space", ".gitignore"].map((name) =>
    existsSync(join(there.tree, name)),
  );
  assert.deepEqual(shown, [false, false, true, true, true]);
  assert.equal(statSync(join(there.tree, "program")).mode & 0o111, 0o111);
  assert.equal(readlinkSync(join(there.tree, "link")), "program");

  // A later save of the second machine builds on the first one's; the first machine can go back to any of them.
  writeFileSync(join(there.tree, "new"), "there");
  const third = await saveRun(other, there, restored);
  assert.ok(third);
  await restoreRun(store, here, third.key);
  assert.equal(readFileSync(join(here.tree, "new"), "utf8"), "there");
  await restoreRun(store, here, first.key);
  assert.deepEqual(
    ["new", "gone-later"].map((name) => existsSync(join(here.tree, name))),
    [false, true],
  );
  assert.equal(readFileSync(join(here.journalFolder, "s.jsonl"), "utf8"), "one\n");
  await removeRun(store, here.runId);
  assert.deepEqual(await other.list("runs/batch%201"), []);
  await store.close();
  await other.close();
}
