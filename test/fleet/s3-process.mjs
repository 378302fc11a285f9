// An S3 server with one bucket, in a folder and at an address. The parent starts it with --openssl-legacy-provider: its tokens of long lists are made with DES.
import Server from "@20minutes/s3rver";

const configureBuckets = [{ name: "runs", configs: [] }];
const server = new Server({
  directory: process.argv[2],
  address: process.argv[3] ?? "127.0.0.1",
  port: 0,
  silent: true,
  configureBuckets,
});
const { port } = await server.run();
process.stdout.write(`${port}\n`);
process.stdin.resume().on("end", () => process.exit(0)); // with its parent
