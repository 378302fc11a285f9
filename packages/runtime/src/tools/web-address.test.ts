import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isLocalName, isPublicAddress } from "./web-address.ts";

describe("isPublicAddress", () => {
  it("lets addresses of the public internet through", () => {
    for (const address of [
      "1.1.1.1",
      "93.184.216.34",
      "172.32.0.1",
      "2606:4700::1111",
      "::ffff:1.1.1.1",
      "64:ff9b::1.1.1.1",
      "2606:4700:1:2:3:4:5::",
      "2606:4700:1:2:3:4:5:6",
      "172.15.255.255",
      "2001:200::1",
      "3fff:1000::1",
      "223.255.255.255",
    ]) {
      assert.equal(isPublicAddress(address), true, address);
    }
  });

  it("refuses loopback, private, link-local, metadata, reserved and multicast addresses, also dressed as IPv6", () => {
    const refused =
      "0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.255 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 " +
      "192.0.0.8 192.168.1.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:a9fe:a9fe " +
      "64:ff9b::10.0.0.1 64:ff9b:1::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 2001::1 2002:7f00:1:: 3fff::1";
    for (const address of refused.split(" ")) assert.equal(isPublicAddress(address), false, address);
  });

  it("refuses what is no address", () => {
    for (const text of [
      "",
      "example.com",
      "1.2.3",
      "1.2.3.256",
      "1:2:3",
      "::1::2",
      "1:2:3:4:5:6:7:8:9",
      "1::2:3:4:5:6:7:8",
      "::1.2.3.256",
      "2606:4700:1:2:3:4:5:6::",
      "12345::",
      ":1:2:3:4:5:6:7",
      "g::1",
    ]) {
      assert.equal(isPublicAddress(text), false, text);
    }
  });
});

describe("isLocalName", () => {
  it("knows names that stay on this machine or network, in any spelling", () => {
    const local =
      "localhost LOCALHOST localhost. a.localhost printer.local metadata.google.internal db router.lan x.home.arpa. intranet";
    for (const name of local.split(" ")) assert.equal(isLocalName(name), true, name);
    for (const name of ["example.com", "internal.example.com", "localhost.example.com", "nip.io."])
      assert.equal(isLocalName(name), false, name);
  });
});
