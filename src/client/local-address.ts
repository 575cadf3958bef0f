/** IPv4 networks that mean this machine or a private network (RFC 6890). */
const localIpv4 =
  /^(?:0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;

/** IPv6: unspecified, loopback, IPv4-mapped, unique local, link-local. */
const localIpv6 = /^\[(?:::1?\]|::ffff:|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/;

/**
 * Whether a host is, by its very name, this machine or in a private network. Names are not resolved: where that is a
 * danger, the injected fetch has to look at addresses.
 * @param hostname `hostname` of a parsed URL, which has IP addresses in their normal form
 * @see RFC 9728 section 7.7 (T-185)
 */
export function isLocalAddress(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    (/^[\d.]+$/.test(name) && localIpv4.test(name)) ||
    localIpv6.test(name)
  );
}
