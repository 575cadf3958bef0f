import { asText, type JsonObject } from '../oauth/foreign-json.ts';
import { isEmailVerified as isVerifiedClaim } from '../oauth/issuer.ts';
import type { UpstreamPreset } from './presets/preset.ts';
import type { UpstreamIdentity } from './upstream.ts';
import type { UserInfoMapping } from './upstream-settings.ts';

/** What of a token is about the token and not about the person. */
const tokenClaims: readonly string[] = [
  'aio',
  'at_hash',
  'aud',
  'auth_time',
  'azp',
  'c_hash',
  'exp',
  'iat',
  'iss',
  'jti',
  'nbf',
  'nonce',
  'rh',
  's_hash',
  'sid',
  'sub',
  'uti',
];

/** Longest address and name taken, in characters. */
const maxCharacters = 320;

const asShortText = (value: unknown): string | undefined => {
  const text = asText(value);
  return text !== undefined && text.length <= maxCharacters ? text : undefined;
};

/** @returns an address in lower case; undefined for what is none */
function asAddress(value: unknown): string | undefined {
  const text = asShortText(value)?.toLowerCase();
  return text !== undefined && /^[^\s@]+@[^\s@]+$/.test(text) ? text : undefined;
}

/**
 * What is said of a person and not of a token. Rules go by it: an address that anybody could have entered is not in it.
 * @param email the address that was verified
 * @param addressMember where an address stands that may be another one
 */
function personalClaims(
  claims: JsonObject,
  email: string | undefined,
  addressMember: string | undefined = 'email',
): JsonObject {
  const left = [...tokenClaims, 'email', addressMember];
  const kept = Object.fromEntries(Object.entries(claims).filter(([name]) => !left.includes(name)));
  return email === undefined ? kept : { ...kept, email };
}

/**
 * Says who somebody is by the claims of an ID token that was verified, and of the user info of the same subject. What is
 * signed stands over what is not; an address and whether it was verified are of the same source.
 * @param issuer that of the ID token
 */
export function identityOfClaims(
  issuer: string,
  idToken: JsonObject,
  userInfo: JsonObject,
  { isEmailVerified = ({ email_verified: claim }) => isVerifiedClaim(claim) }: UpstreamPreset,
): UpstreamIdentity {
  const source = idToken.email === undefined ? userInfo : idToken;
  const email = isEmailVerified(source) ? asAddress(source.email) : undefined;
  const { email_verified: verified } = source;
  const { email_verified: _ofEither, ...both } = { ...userInfo, ...idToken };
  const claims = personalClaims(verified === undefined ? both : { ...both, email_verified: verified }, email);
  const name = asShortText(claims.name) ?? asShortText(claims.preferred_username);
  return { issuer, subject: String(idToken.sub), ...(email && { email }), ...(name && { name }), claims };
}

/** A member of an answer by its path, with dots for what is deeper; own members alone. */
function memberAt(answer: JsonObject, path: string | undefined): unknown {
  if (path === undefined) return undefined;
  return path
    .split('.')
    .reduce<unknown>(
      (value, step) => (Object.hasOwn(Object(value), step) ? (value as JsonObject)[step] : undefined),
      answer,
    );
}

/**
 * Says who somebody is by the answer of a user-info endpoint of an upstream without ID tokens.
 * @param verifiedEmail an address that is known to be verified from elsewhere
 * @returns undefined where the answer names nobody
 */
export function identityOfUserInfo(
  issuer: string,
  answer: JsonObject,
  mapping: UserInfoMapping,
  verifiedEmail?: string,
): UpstreamIdentity | undefined {
  const id = memberAt(answer, mapping.subject);
  const subject = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : asText(id);
  if (subject === undefined || subject.length > 255) return undefined;
  const isVerified = isVerifiedClaim(memberAt(answer, mapping.emailVerified));
  const email = asAddress(verifiedEmail ?? (isVerified ? memberAt(answer, mapping.email) : undefined));
  const name = asShortText(memberAt(answer, mapping.name));
  const groups = memberAt(answer, mapping.groups);
  return {
    issuer,
    subject,
    ...(email && { email }),
    ...(name && { name }),
    claims: { ...personalClaims(answer, email, mapping.email), ...(groups !== undefined && { groups }) },
  };
}

/** The address of a list such as GitHub's that was verified and is the first one; undefined where there is none. */
export function primaryAddress(list: unknown): string | undefined {
  if (!Array.isArray(list)) return undefined;
  const found = list.find((entry: JsonObject) => entry?.primary === true && isVerifiedClaim(entry.verified));
  return asAddress((found as JsonObject | undefined)?.email);
}
