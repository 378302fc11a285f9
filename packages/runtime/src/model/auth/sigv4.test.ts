import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SigningScope, signRequest, type UnsignedRequest } from "./sigv4.ts";

// The keys, times and signatures are those of AWS's published test suite for Signature Version 4.
const scope: SigningScope = {
  credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" },
  region: "us-east-1",
  service: "service",
  now: Date.UTC(2015, 7, 30, 12, 36, 0),
};
const get: UnsignedRequest = { method: "GET", url: "https://example.amazonaws.com/", headers: {}, body: "" };

describe("signRequest", () => {
  const rows: [name: string, request: UnsignedRequest, signed: string, signature: string][] = [
    ["get-vanilla", get, "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    [
      "get-vanilla-query-order-key-case",
      { ...get, url: "https://example.amazonaws.com/?Param2=value2&Param1=value1" },
      "host;x-amz-date",
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
    [
      "post-vanilla",
      { ...get, method: "POST" },
      "host;x-amz-date",
      "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    ],
    [
      "post-x-www-form-urlencoded",
      { ...get, method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "Param1=value1" },
      "content-type;host;x-amz-date",
      "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ],
    [
      "post-header-key-sort",
      { ...get, method: "POST", headers: { "My-Header1": "value1" } },
      "host;my-header1;x-amz-date",
      "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
    ],
    [
      "get-header-value-trim",
      { ...get, headers: { "My-Header1": " value1", "My-Header2": ' "a   b   c"' } },
      "host;my-header1;my-header2;x-amz-date",
      "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    ],
  ];
  for (const [name, request, signed, signature] of rows) {
    it(`agrees with the published vector ${name}`, () => {
      assert.deepEqual(signRequest(request, scope), {
        ...request.headers,
        "x-amz-date": "20150830T123600Z",
        authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
      });
    });
  }

  it("signs the token of temporary credentials and sends it along", () => {
    const credentials = { ...scope.credentials, sessionToken: "a-token" };
    const headers = signRequest(get, { ...scope, credentials });
    assert.equal(headers["x-amz-security-token"], "a-token");
    assert.match(headers["authorization"] ?? "", /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
  });

  it("tells apart hosts, and paths that differ only in how they are encoded", () => {
    const urls = ["https://h/model/a:0/x", "https://h/model/a%3A0/x", "https://h/model/a%253A0/x", "https://h:81/model/a:0/x"];
    const signatures = urls.map((url) => signRequest({ ...get, url }, scope)["authorization"]);
    assert.equal(new Set(signatures).size, urls.length);
  });
});
