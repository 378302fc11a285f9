import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { filesOfManager } from "./version-managers.ts";

describe("a version manager behind a name", () => {
  const rows: [file: string, real: string | undefined, files: readonly string[] | "any" | undefined][] = [
    ["/usr/bin/node", undefined, undefined],
    ["/usr/bin/python3", "/usr/bin/python3.12", undefined],
    ["/home/me/.nvm/versions/node/v20.1.0/bin/node", undefined, undefined],
    ["/home/me/.local/state/fnm_multishells/1/bin/node", "/home/me/.local/share/fnm/node-versions/v20/bin/node", undefined],
    ["/home/me/.pyenv/versions/3.12.1/bin/python", undefined, undefined],
    ["/home/me/.asdf/installs/nodejs/20.1.0/bin/node", undefined, undefined],
    ["/home/me/.asdf/shims/node", undefined, "any"],
    ["/home/me/.local/share/mise/shims/node", "/usr/bin/mise", "any"],
    ["/usr/local/bin/node", "/opt/mise/bin/mise", "any"],
    ["/home/me/.proto/shims/node", undefined, "any"],
    ["/opt/whatever/shims/jq", undefined, "any"],
    ["/usr/bin/jq", "/opt/whatever/shims/jq", "any"],
    ["/home/me/.pyenv/shims/python3", undefined, [".python-version"]],
    ["/home/me/.rbenv/shims/ruby", undefined, [".ruby-version", ".rbenv-version"]],
    ["/opt/nodenv/shims/node", undefined, [".node-version", ".nvmrc", "package.json"]],
    ["/home/me/.volta/bin/node", "/home/me/.volta/bin/volta-shim", ["package.json"]],
    ["/usr/bin/yarn", "/usr/lib/node_modules/corepack/dist/yarn.js", ["package.json"]],
    ["/home/me/.cargo/bin/cargo", "/home/me/.cargo/bin/rustup", ["rust-toolchain", "rust-toolchain.toml"]],
    ["/home/me/.tfenv/bin/terraform", undefined, [".terraform-version"]],
    ["/home/me/.elan/bin/lake", "/home/me/.elan/bin/elan", ["lean-toolchain", "leanpkg.toml"]],
  ];
  for (const [file, real = file, files] of rows)
    it(`${file} obeys ${files ?? "nobody"}`, () => assert.deepEqual(filesOfManager({ file, real }), files));
});
