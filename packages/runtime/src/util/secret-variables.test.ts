import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scrubEnvironment } from "../workspace/environment.ts";
import { createRedactor } from "./redact.ts";

const password = "v5UTG79BG16QmtsL4F";
const key = ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_");

/** Every way in which a program prints a value. */
const forms = (value: string): string[] => [
  value,
  Buffer.from(value).toString("base64"),
  Buffer.from(`x${value}`).toString("base64url"),
  Buffer.from(value).toString("hex"),
  [...value].reverse().join(""),
];

describe("a variable that is withheld", () => {
  const variables: Record<string, [value: string, secret: string]> = {
    APP_CONNECTION_STRING: [`Server=db;User Id=sa;Password=${password};`, password],
    ODBC: [`Driver=x;Pwd='${password}';Server=db`, password],
    ODBC_PLAIN: [`Driver=x;Pwd=${password};Server=db`, password],
    LIBPQ: [`host=db password=${password} user=a`, password],
    DATABASE_URL: [`postgres://app:${password}@db.example.com:5432/app`, password],
    REDIS_URL: [`redis://:${password}@cache:6379/0`, password],
    PIP_INDEX_URL: [`https://__token__:${password}@pypi.example.com/simple`, password],
    https_proxy: [`http://me:${password}@proxy.example.com:3128`, password],
    JDBC: [`jdbc:mysql://db/app?user=a&password=${password}`, password],
    MYSQL: [`app:${password}@tcp(127.0.0.1:3306)/db`, password],
    ENCODED_URL: ["amqp://u:p%40ss%2Fw0rd%21x@mq/", "p@ss/w0rd!x"],
    CLONE_URL: [`https://${password}:x-oauth-basic@git.example.com/a.git`, password],
    TEAM_WEBHOOK: ["https://chat.example.org/in/T024BE7LD/v5UTG79BG16QmtsL4F", "in/T024BE7LD/v5UTG79BG16QmtsL4F"],
    ALERT_WEBHOOK_URL: ["https://alerts.example.org/x?room=7&code=v5UTG79BG16QmtsL4F", "code=v5UTG79BG16QmtsL4F"],
    DOOR_WEBHOOK: ["https://door.example.org/open/the-front-door", "https://door.example.org/open/the-front-door"],
    ROOM_TOKEN: ["https://rooms.example.org/join/v5UTG79BG16QmtsL4F", "join/v5UTG79BG16QmtsL4F"],
    FOO: [key, key],
    BAR: [`use ${key} here`, key],
    OVERLAPPING: ["gsk_live_a1B2c3D4e5F6g7H8i9", "sk_live_a1B2c3D4e5F6g7H8i9"],
    EIGHT: ["p:p1@h.x", "p:p1@h.x"],
  };
  for (const [name, [value, secret]] of Object.entries(variables))
    it(`is known to the redactor with the secret in it: ${name}`, () => {
      assert.deepEqual(scrubEnvironment({ [name]: value }), {});
      const { text } = createRedactor({ env: { [name]: value } });
      for (const form of [...forms(secret), ...forms(value)])
        assert.match(text(form), new RegExp(`^\\w{0,2}\\[redacted:${name}\\]$`), form); // bits of what stands before it
    });

  it("gives no ordinary word away as a secret", () => {
    const { text } = createRedactor({
      env: {
        ...{ DATABASE_URL: "postgres://deploy-user:postgres@localhost/app", B: "redis://:shorty@h/0" },
        ...{ SITE_AUTH: "https://login.example.org/some/plain-path", MY_WEBHOOK: "https://h.example.org/short" },
      },
    });
    const words =
      "deploy-user, postgres, localhost, shorty, https://login.example.org/some/plain-path, https://h.example.org/short";
    assert.equal(text(words), words);
  });
});

describe("an ordinary value", () => {
  it("is neither masked nor withheld under a name that promises it", () => {
    const env = {
      ...{ KEY_FILE: "package.json", PRIMARY_KEY: "customer_id", PARTITION_KEY: "created_at", SONAR_PROJECT_KEY: "acme-webshop" },
      ...{ CACHE_KEY: "linux-node20", SECRET_NAME: "my-app-secret", API_KEY: "none-needed", SSH_KEY_PATH: "/home/u/.ssh/id_rsa" },
      ...{
        TOKEN_URL: "https://login.example.com/oauth/token",
        AUTH_URL: "https://auth.example.com/v1",
        TOKEN_FILE: "conf/token.txt",
      },
      ...{ SECRET_TYPE: "kubernetes.io/tls", AUTH_TYPE: "bearer-token", CREDENTIALS_DIR: "./conf/keys" },
      ...{ JOB: "task-1234567890-abcdefgh", MAX_CONNECTIONS: "twenty-or-so-9", IMAGE: "a:b@c.x" },
      ...{ TOKEN_PATH: `${"conf/".repeat(102)}ab` },
    };
    assert.deepEqual(scrubEnvironment(env), env);
    const { text } = createRedactor({ env });
    for (const value of Object.values(env)) assert.equal(text(`it is ${value} here`), `it is ${value} here`);
  });

  it("is a secret all the same under the name of a key that opens something, or where it looks made", () => {
    const env = {
      ...{ SIGNING_KEY: "correct-horse-battery", API_KEY: "correct-horse-battery", STRIPE_KEY: "a1b2-c3d4-e5f6-g7h8" },
      ...{ TOKEN_URL: "https://h/?token=a1b2c3d4e5f6", KEY_ID: "a1b2c3d4e5f6g7h8i9", MY_TOKEN: "correct-horse-battery" },
      ...{ KEY_NAME: "correct horse battery", PET_KEY: "correct/horse/battery", KEY_FILE: "keys/z9y8x7w6v5u4t3s2r1" },
      ...{ TOKEN_PATH: `${"conf/".repeat(102)}abc` },
    };
    assert.deepEqual(scrubEnvironment(env), {});
  });
});

describe("a value with spaces", () => {
  it("is found as a form sends it", () => {
    const { text } = createRedactor({ env: { PASSPHRASE: "correct horse/battery" } });
    assert.equal(text("a=correct+horse/battery b=correct+horse%2Fbattery"), "a=[redacted:PASSPHRASE] b=[redacted:PASSPHRASE]");
  });
});

describe("a value in base64", () => {
  it("is hidden up to its last character", () => {
    for (const value of ["tok-1234567a", "tok-1234567ab", "tok-1234567abc"]) {
      const { text } = createRedactor({ env: { MY_TOKEN: value } });
      for (const before of ["", "x", "xy"])
        assert.match(text(Buffer.from(before + value).toString("base64")), /^[A-Za-z0-9]{0,3}\[redacted:MY_TOKEN\]$/);
    }
  });
});

describe("a secret of several lines", () => {
  const body = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7a1B2c3D4e5F6",
    "g7H8i9J0k1L2m3N4o5P6q7R8s9T0Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8",
    "Nn7Mm6==",
  ];
  const pem = [`-----BEGIN ${"PRIVATE KEY"}-----`, ...body, `-----END ${"PRIVATE KEY"}-----`].join("\n");
  const rev = (text: string): string => [...text].reverse().join("");
  const turned = pem.split("\n").map(rev).join("\n");

  it("is hidden where each line is printed backwards, known or met", () => {
    const known = createRedactor({ env: { DEPLOY_KEY: pem } });
    const met = createRedactor();
    met.meet(pem);
    for (const { text } of [known, met]) {
      const shown = text(turned);
      for (const line of body) assert.equal(shown.includes(rev(line)), false, shown);
    }
    const words = createRedactor({ env: { SEED_SECRET: "twelve words here\nand some more of them" } });
    assert.equal(words.text(rev("and some more of them")), "[redacted:SEED_SECRET]");
  });

  it("keeps the escapes before its lines when it was met in JSON", () => {
    const { text } = createRedactor();
    text(JSON.stringify(pem));
    const [first = "", second = ""] = body;
    for (const line of [first, second]) assert.equal(text(JSON.stringify(`x\n${line}`)), '"x\\n[redacted:private-key]"');
  });

  it("is hidden in a dump as far as it goes, and what follows it is not", () => {
    const bytes = Buffer.from(`${pem}\n${"plain words ".repeat(4)}`).toString("hex");
    const shown = createRedactor().text(bytes);
    assert.match(shown, /^\[redacted:private-key\]/);
    assert.ok(shown.endsWith(Buffer.from("plain words ".repeat(4)).toString("hex")), shown);
  });

  it("is hidden in the first lines of a dump, known or not", () => {
    const pairs = Buffer.from(pem).toString("hex").match(/../g) ?? [];
    const od = Array.from(
      { length: 5 },
      (_, line) => `${(line * 16).toString(8).padStart(7, "0")} ${pairs.slice(line * 16, line * 16 + 16).join(" ")}`,
    );
    for (const env of [{ DEPLOY_KEY: pem }, {}]) {
      const shown = createRedactor({ env }).text(`code\n${od.join("\n")}\n`);
      for (const line of od.slice(2)) assert.equal(shown.includes(line.slice(8)), false, shown);
    }
  });
});
