// ipaddr.js knows the special ranges of both families, has no dependencies, and Express itself uses it.
import ipaddr from 'ipaddr.js';

/** Global unicast: the rest of IPv6 is not in use on the internet (RFC 4291 section 2.5.4). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Cloud metadata services outside the special ranges: Azure, Alibaba, AWS over IPv6. */
const metadataAddresses = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/** Ranges for networks of organizations: RFC 1918, RFC 4193, RFC 6598. */
const privateRanges: readonly string[] = ['private', 'uniqueLocal', 'carrierGradeNat'];

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

/**
 * Returns whether an address is on the public internet: not private, loopback, link-local, unique local, shared
 * (CGNAT), multicast, reserved, a tunnel into another range, or a cloud metadata service (A12-01, T-067).
 * @param address IPv4 or IPv6 in any spelling, without brackets; an IPv4-mapped one counts as the mapped address
 * @returns false also for invalid addresses
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== 'unicast' || metadataAddresses.has(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast);
}

/**
 * Returns whether an address is on a private network of an organization: not link-local, loopback or a cloud metadata
 * service.
 * @param address IPv4 or IPv6 in any spelling, without brackets
 */
export function isPrivateAddress(address: string): boolean {
  const parsed = parse(address);
  return (
    parsed !== undefined &&
    privateRanges.includes(parsed.range()) &&
    !metadataAddresses.has(parsed.toString())
  );
}

/** @returns whether an address is a loopback address (127.0.0.0/8, ::1) */
export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback';
}

/**
 * Returns the network by which an address is counted: the address, or its /64 for IPv6, as one customer has at least a
 * /64.
 * @param address IPv4 or IPv6, without brackets
 */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed || parsed.kind() === 'ipv4') return parsed?.toString() ?? address;
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
