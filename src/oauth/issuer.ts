import type { NoteSlip } from './foreign-json.ts';

/**
 * Returns whether metadata is of the requested issuer: the same text, or with one trailing slash more or less. Both
 * have their metadata at the same URLs, so nobody else can publish one for the other.
 * @param asked the requested issuer
 * @param named `issuer` of the metadata
 * @see RFC 8414 section 3.3 (A4-04, FA-49)
 */
export function isSameIssuer(
  asked: string,
  named: unknown,
  note: NoteSlip = () => undefined,
): named is string {
  if (named === asked) return true;
  if (typeof named !== 'string' || (named !== `${asked}/` && asked !== `${named}/`)) return false;
  note({ tolerance: 'issuerSlash', because: 'the issuer differs in the slash at its end' });
  return true;
}

/** A provider with endpoints on other hosts than its issuer. */
export interface KnownProvider {
  /** Hosts of its issuers. */
  issuerHosts: readonly string[];
  /** Other hosts that its metadata may name; with a leading dot: all hosts below. */
  endpointHosts: readonly string[];
}

/** All such providers. */
export const knownProviders = {
  google: { issuerHosts: ['accounts.google.com'], endpointHosts: ['.googleapis.com'] },
  entra: {
    issuerHosts: ['login.microsoftonline.com', 'login.microsoftonline.us', 'login.chinacloudapi.cn'],
    endpointHosts: ['graph.microsoft.com', 'graph.microsoft.us', 'microsoftgraph.chinacloudapi.cn'],
  },
} as const satisfies Record<string, KnownProvider>;

/**
 * Returns whether a host is allowed.
 * @param allowed a host, or with a leading dot all hosts below it
 */
export function isHostOf(host: string, allowed: string): boolean {
  return allowed.startsWith('.') ? host.endsWith(allowed) : host === allowed;
}

/**
 * Returns whether an endpoint on another origin is known to belong to the provider that names it.
 * @param issuer verified issuer of the metadata
 * @param endpoint URL of the endpoint; https, on the default port
 * @see FA-49
 */
export function isKnownEndpoint(issuer: string, endpoint: string): boolean {
  const from = URL.parse(issuer);
  const to = URL.parse(endpoint);
  if (from?.protocol !== 'https:' || to?.protocol !== 'https:') return false;
  return Object.values<KnownProvider>(knownProviders).some(
    ({ issuerHosts, endpointHosts }) =>
      issuerHosts.includes(from.host) && endpointHosts.some((allowed) => isHostOf(to.host, allowed)),
  );
}

/**
 * Checks whether an issuer says that an e-mail address is verified. Only `true` and the text `"true"`, which some
 * providers send, say so; any other value that is present means that the address is not verified.
 * @param claim `email_verified`, or the member that stands for it
 * @param ifAbsent the result if the issuer does not send the claim
 * @see OpenID Connect Core 1.0 section 5.1 (FA-15, T-215)
 */
export function isEmailVerified(claim: unknown, ifAbsent = false): boolean {
  return claim === undefined ? ifAbsent : claim === true || claim === 'true';
}

/**
 * Returns the text that a rule compares a claim with: a text as it is, a whole number or a Boolean as JSON writes it.
 * @returns undefined for a list, an object, null, and a number that JSON.parse may have rounded: two ids over 2^53 can be
 *   the same number
 */
export function comparableClaim(claim: unknown): string | undefined {
  if (typeof claim === 'string') return claim;
  return typeof claim === 'boolean' || Number.isSafeInteger(claim) ? String(claim) : undefined;
}
