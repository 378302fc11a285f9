import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { featuresOf } from "../detect-sandbox.ts";
import { type BoxSetting, bubblewrapArguments, isBoxItself } from "./bubblewrap-arguments.ts";

const setting: BoxSetting = {
  mounts: [],
  cwd: "/work",
  shareNetwork: false,
  asRoot: false,
  features: { tmpfsSize: true, disableUserNamespaces: true },
  unset: ["SSH_AUTH_SOCK"],
  set: { TMPDIR: "/tmp" },
  command: ["bash", "-c", "true"],
};

describe("bubblewrapArguments", () => {
  it("shuts everything off, shows the machine read-only, and ends with the command", () => {
    assert.equal(
      bubblewrapArguments(setting).join(" "),
      "--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL --ro-bind / / --proc /proc --ro-bind-try /proc/sys /proc/sys --dev /dev --unsetenv SSH_AUTH_SOCK --setenv TMPDIR /tmp --chdir /work -- bash -c true",
    );
  });

  it("is known again by its command line, whatever was wanted of it; other programs are not taken for it", () => {
    for (const shareNetwork of [false, true])
      for (const disableUserNamespaces of [false, true]) {
        const features = { ...setting.features, disableUserNamespaces };
        const line = ["/usr/bin/bwrap", ...bubblewrapArguments({ ...setting, shareNetwork, features })].join(" ");
        assert.ok(isBoxItself(line), line);
      }
    for (const other of ["bwrap --ro-bind / / sleep 9", "sleep 60", "bash -c bwrap --unshare-all --die-with-parent"])
      assert.ok(!isBoxItself(other), other);
  });

  it("mounts parents before what lies in them, in whatever order they are given", () => {
    const args = bubblewrapArguments({
      ...setting,
      mounts: [
        { type: "read-only", path: "/home/u/p/.git/config" },
        { type: "mask", path: "/etc/shadow" },
        { type: "writable", path: "/home/u/p" },
        { type: "hide", path: "/home" },
        { type: "writable", path: "/tmp", source: "/var/box" },
        { type: "writable", path: "/home/u/p/.git" },
      ],
    });
    const mounts = args.slice(args.indexOf("/dev") + 1, args.indexOf("--unsetenv")).join(" ");
    assert.equal(
      mounts,
      "--size 1073741824 --tmpfs /home --bind /var/box /tmp --ro-bind /dev/null /etc/shadow --bind /home/u/p /home/u/p --bind /home/u/p/.git /home/u/p/.git --ro-bind /home/u/p/.git/config /home/u/p/.git/config",
    );
  });

  it("keeps root from the switches of the kernel", () => {
    const args = bubblewrapArguments({ ...setting, asRoot: true }).join(" ");
    assert.match(args, /--proc \/proc --ro-bind-try \/proc\/sys \/proc\/sys --ro-bind-try \/proc\/sysrq-trigger/);
  });

  it("shares the network only when told to, and uses only what the version can do", () => {
    const args = bubblewrapArguments({
      ...setting,
      shareNetwork: true,
      features: featuresOf("0.6.1"),
      mounts: [{ type: "hide", path: "/home" }],
    });
    assert.deepEqual(args.slice(0, 3), ["--unshare-all", "--share-net", "--die-with-parent"]);
    assert.equal(args.includes("--size"), false);
  });

  it("knows since when the versions can do what", () => {
    assert.deepEqual(["0.6.1", "0.7.0", "0.8.0", "0.11.0", "1.0.0"].map(featuresOf), [
      { tmpfsSize: false, disableUserNamespaces: false },
      { tmpfsSize: true, disableUserNamespaces: false },
      { tmpfsSize: true, disableUserNamespaces: true },
      { tmpfsSize: true, disableUserNamespaces: true },
      { tmpfsSize: true, disableUserNamespaces: true },
    ]);
  });
});
