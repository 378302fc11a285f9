/**
 * Is this IP address, in any spelling the URL parser or the resolver gives, one of the public internet?
 * Everything else is refused: loopback, private and link-local networks, cloud metadata, documentation, multicast.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes(":")) return isPublicIpv6(address);
  const number = parseIpv4(address);
  return number !== undefined && isPublicIpv4(number);
}

/** Names that never lead to the public internet, whatever a resolver says: those without a dot and those under a reserved ending. */
export function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.+$/, "");
  return (
    !name.includes(".") ||
    /\.(?:localhost|local|localdomain|internal|intranet|private|corp|lan|home|home\.arpa|onion)$/.test(name)
  );
}

const privateIpv4: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32", // Azure's metadata and DNS: a public number, answered by the host
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];

function isPublicIpv4(number: number): boolean {
  return !privateIpv4.some((range) => {
    const [base = "", bits = "32"] = range.split("/");
    const size = 2 ** (32 - Number(bits));
    const start = parseIpv4(base) ?? 0;
    return number >= start && number < start + size;
  });
}

function isPublicIpv6(address: string): boolean {
  const groups = parseIpv6(address);
  if (!groups) return false;
  const [first = 0, second = 0] = groups;
  const embedded = (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0);
  const upper = groups.slice(0, 6).join(":");
  // IPv4 in IPv6 clothes: mapped (::ffff:a.b.c.d) and NAT64 (64:ff9b::a.b.c.d) are as public as what they carry.
  if (upper === "0:0:0:0:0:65535" || upper === "100:65435:0:0:0:0") return isPublicIpv4(embedded);
  if (first < 0x2000 || first > 0x3fff) return false;
  const isTunnel = first === 0x2002 || (first === 0x2001 && second < 0x200);
  const isDocumentation = (first === 0x2001 && second === 0xdb8) || (first === 0x3fff && second < 0x1000);
  return !isTunnel && !isDocumentation;
}

function parseIpv4(address: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address)?.slice(1).map(Number);
  if (!parts || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((number, part) => number * 256 + part, 0);
}

/** Eight numbers, or undefined for anything that is not plainly an IPv6 address. */
function parseIpv6(address: string): number[] | undefined {
  const withoutZone = address.split("%")[0] ?? "";
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(withoutZone);
  const tail = dotted ? parseIpv4(dotted[2] ?? "") : undefined;
  if (dotted && tail === undefined) return undefined;
  const plain = tail === undefined ? withoutZone : `${dotted?.[1]}${(tail >>> 16).toString(16)}:${(tail & 0xffff).toString(16)}`;

  const halves = plain.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...rest];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.map((group) => Number.parseInt(group, 16));
}
