import { checkKey, type ObjectStore, StoreFailed } from "./object-store.ts";

/** What is used of the package `pg`, which whoever keeps runs in Postgres installs beside this one. */
type Pool = {
  query(text: string, values?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  end(): Promise<void>;
};

/** One table, made when it is missing. The name is the user's to choose: several fleets may share a database. */
export async function openPostgresStore(url: string, table = "outrider_objects"): Promise<ObjectStore> {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(table)) throw new StoreFailed(`Not a name of a table: ${table}`);
  const { host, pathname } = new URL(url);
  const place = `database ${host}${pathname}`;
  const pool = await openPool(url);
  pool.on("error", () => {}); // a connection that waits has been cut: the next query opens another
  const ask = async (text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]> => {
    try {
      return (await pool.query(text, values)).rows;
    } catch (error) {
      throw new StoreFailed(`The ${place} failed: ${Object(error).message}`, { cause: error });
    }
  };
  try {
    await makeTable(ask, table);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    place,
    async get(key) {
      const [row] = await ask(`select bytes from ${table} where key = $1`, [checkKey(key)]);
      return row?.bytes as Uint8Array | undefined; // of type bytea
    },
    async put(key, bytes) {
      const values = [checkKey(key), Buffer.from(bytes)];
      const take = "on conflict (key) do update set bytes = excluded.bytes, put_at = now()";
      await ask(`insert into ${table} (key, bytes) values ($1, $2) ${take}`, values);
    },
    has: async (key) => (await ask(`select 1 from ${table} where key = $1`, [checkKey(key)])).length > 0,
    async list(prefix) {
      const rows = await ask(`select key from ${table} where starts_with(key, $1) order by key`, [prefix]);
      return rows.map(({ key }) => String(key));
    },
    async remove(key) {
      await ask(`delete from ${table} where key = $1`, [checkKey(key)]);
    },
    close: () => pool.end(),
  };
}

/** Two workers that start at once would both make it: one of them is told so, and finds it made. */
async function makeTable(ask: (text: string) => Promise<unknown>, table: string): Promise<void> {
  const make = `create table if not exists ${table} (key text collate "C" primary key, bytes bytea not null, put_at timestamptz not null default now())`;
  await ask(make).catch(() => ask(`select 1 from ${table} limit 1`));
}

async function openPool(connectionString: string): Promise<Pool> {
  const name = "pg"; // not bundled, not installed with us
  const found = await import(name).catch((error: unknown) => {
    throw new StoreFailed("A store in Postgres needs the package pg: npm install pg", { cause: error });
  });
  const { Pool } = (found.default ?? found) as { Pool: new (options: object) => Pool }; // a CommonJS package
  return new Pool({ connectionString, max: 8, connectionTimeoutMillis: 10_000 });
}
