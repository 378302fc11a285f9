import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { type ObjectStore, StoreFailed } from "./object-store.ts";

export type StoreCase = {
  readonly name: string;
  /** Said of services; a server for tests may do without. */
  readonly isOfServices?: boolean | undefined;
  run(open: () => Promise<ObjectStore>): Promise<void>;
};

/** What every store must do. `open` opens the same store again, as another worker would; keys are new in every case. */
export const storeConformance: readonly StoreCase[] = [
  storeCase("gives back what was put, byte for byte, also to another worker", async (store, other, place) => {
    const samples = [new Uint8Array(), Buffer.from("a\r\n\0é"), randomBytes(300_000), randomBytes(5_000_000)];
    for (const [index, bytes] of samples.entries()) await store.put(`${place}/${index}`, bytes);
    for (const [index, bytes] of samples.entries())
      assert.ok(Buffer.from((await other.get(`${place}/${index}`)) ?? "none").equals(bytes), `sample ${index}`);
  }),
  storeCase("has nothing under a key before it is put and after it is removed", async (store, other, place) => {
    const key = `${place}/one`;
    assert.deepEqual([await store.get(key), await store.has(key)], [undefined, false]);
    await store.put(key, Buffer.from("1"));
    assert.equal(await other.has(key), true);
    await store.remove(key);
    await store.remove(key);
    assert.deepEqual([await other.get(key), await other.has(key)], [undefined, false]);
  }),
  storeCase("puts an object in the place of another one", async (store, other, place) => {
    await store.put(`${place}/it`, Buffer.from("first and long"));
    await other.put(`${place}/it`, Buffer.from("second"));
    assert.equal(Buffer.from((await store.get(`${place}/it`)) ?? "").toString(), "second");
  }),
  storeCase("lists keys by how they begin, sorted, and a key may be the beginning of another", async (store, other, place) => {
    for (const name of ["b/2", "b", "b/10", "a-1", "a.1", "a~1", "a%2F1", "c/d/e/f"])
      await store.put(`${place}/${name}`, Buffer.from(name));
    const listed = async (beginning: string): Promise<string[]> =>
      (await other.list(`${place}/${beginning}`)).map((key) => key.slice(place.length + 1));
    assert.deepEqual(await listed(""), ["a%2F1", "a-1", "a.1", "a~1", "b", "b/10", "b/2", "c/d/e/f"]);
    assert.deepEqual(await listed("b"), ["b", "b/10", "b/2"]);
    assert.deepEqual(await listed("b/"), ["b/10", "b/2"]);
    assert.deepEqual(await listed("nothing"), []);
    assert.equal(Buffer.from((await other.get(`${place}/a%2F1`)) ?? "").toString(), "a%2F1");
  }),
  storeCase("lists more keys than fit into one answer", async (store, other, place) => {
    const names = Array.from({ length: 1_010 }, (_, index) => `${place}/${String(index).padStart(5, "0")}`);
    for (let from = 0; from < names.length; from += 20)
      await Promise.all(names.slice(from, from + 20).map((name) => store.put(name, Buffer.from("x"))));
    assert.deepEqual(await other.list(`${place}/`), names);
  }),
  {
    isOfServices: true,
    ...storeCase("shows a whole object or none while it is replaced", async (store, other, place) => {
      const key = `${place}/swapped`;
      const versions = [Buffer.alloc(200_000, "a"), Buffer.alloc(300_000, "b")];
      await store.put(key, Buffer.alloc(200_000, "a"));
      const writing = (async () => {
        for (let round = 0; round < 20; round++) await store.put(key, versions[round % 2] ?? Buffer.alloc(0));
      })();
      for (let round = 0; round < 40; round++) {
        const seen = Buffer.from((await other.get(key)) ?? "");
        assert.ok(
          versions.some((version) => version.equals(seen)),
          `a mixture of ${seen.length} bytes`,
        );
      }
      await writing;
    }),
  },
  storeCase("refuses keys that lead elsewhere", async (store, _, place) => {
    for (const key of ["", "/a", "a/", "a//b", `${place}/../x`, "a b", "a\\b", "x".repeat(1_000)])
      await assert.rejects(async () => store.put(key, Buffer.from("x")), StoreFailed, JSON.stringify(key));
  }),
];

function storeCase(name: string, body: (store: ObjectStore, other: ObjectStore, place: string) => Promise<void>): StoreCase {
  return {
    name,
    async run(open) {
      const stores = [await open(), await open()] as const;
      try {
        await body(...stores, `case-${randomUUID()}`);
      } finally {
        for (const store of stores) await store.close();
      }
    },
  };
}
