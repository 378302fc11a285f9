// Reads {"version": "1.4.2", "kind": "minor"} from stdin and prints 1.5.0.
import { readFileSync } from "node:fs";

const { version, kind } = JSON.parse(readFileSync(0, "utf8"));
const [major, minor, patch] = version.split(".").map(Number);
const next = { major: [major + 1, 0, 0], minor: [major, minor + 1, 0], patch: [major, minor, patch + 1] };
process.stdout.write(`${next[kind].join(".")}\n`);
