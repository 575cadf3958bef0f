import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import { quote } from '../../client/quote.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { quoteOrMissing } from '../document.ts';

/** Claims of an access token. They are not verified: only the server can judge its token. */
export interface Claims {
  header: { alg?: string; typ?: string };
  payload: JWTPayload & { client_id?: unknown; scope?: unknown };
}

/**
 * Reads an access token.
 * @param accessToken the token
 * @returns undefined for an opaque one
 */
export function readClaims(accessToken: string): Claims | undefined {
  try {
    const { alg, typ } = decodeProtectedHeader(accessToken);
    return {
      header: { ...(alg === undefined ? {} : { alg }), ...(typ === undefined ? {} : { typ }) },
      payload: decodeJwt(accessToken),
    };
  } catch {
    return undefined;
  }
}

/**
 * Returns true if an audience names a resource.
 * @param aud the claim
 * @param resource the resource indicator the token was asked for
 * @returns `alike` if only the spelling differs: case of the host, default port, trailing slash
 * @see RFC 9068 section 4; RFC 8707 section 2.2
 */
export function compareAudience(aud: JWTPayload['aud'], resource: string): 'same' | 'alike' | 'other' {
  const audiences = aud === undefined ? [] : [aud].flat();
  if (audiences.includes(resource)) return 'same';
  const wanted = canonicalResource(resource);
  return audiences.some((one) => canonicalResource(one) === wanted) ? 'alike' : 'other';
}

/**
 * Finds what is wrong with the claims of a token that was just issued.
 * @param claims the token's
 * @param expected the issuer, and the time in epoch seconds
 * @returns faults, each the rest of a sentence that begins with "in the token"
 * @see RFC 9068 sections 2.1, 2.2 and 4; RFC 7519 section 4.1
 */
export function claimFaults(
  { header, payload }: Claims,
  { issuer, now }: { issuer: string; now: number },
): string[] {
  const { iss, exp, nbf } = payload;
  const faults: string[] = [];
  if (header.alg === undefined || header.alg === 'none')
    faults.push('alg is "none": anybody can write such a token');
  if (iss !== issuer) faults.push(`iss is ${quoteOrMissing(iss)} and the issuer ${quote(issuer)}`);
  if (exp === undefined) faults.push('exp is missing: it never ends');
  else if (exp <= now) faults.push(`exp is ${now - exp} seconds ago`);
  if (nbf !== undefined && nbf > now + 60) faults.push(`nbf is ${nbf - now} seconds ahead`);
  return faults;
}
