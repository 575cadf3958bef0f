import { asText, decodeBody, isSuccess, type JsonObject, parseObject } from '../oauth/foreign-json.ts';
import { isEmailVerified as isVerifiedClaim } from '../oauth/issuer.ts';
import { type Ask, kindOf } from './ask.ts';
import type { UpstreamPreset } from './presets.ts';
import type { UpstreamIdentity, UserInfoMapping } from './upstream.ts';
import { UpstreamFault } from './upstream-fault.ts';

/** Claims about the token, and not about the person. */
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

/** Maximum length of an address and a name, in characters. */
const maxCharacters = 320;

const asShortText = (value: unknown): string | undefined => {
  const text = asText(value);
  return text !== undefined && text.length <= maxCharacters ? text : undefined;
};

/** Returns an address in lower case; undefined if it is invalid. */
function asAddress(value: unknown): string | undefined {
  const text = asShortText(value)?.toLowerCase();
  return text !== undefined && /^[^\s@]+@[^\s@]+$/.test(text) ? text : undefined;
}

/**
 * Returns the claims about the person, for rules. An unverified address, which anybody could have entered, is
 * removed.
 * @param email the verified address
 * @param addressMember the member with an address that may be unverified
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
 * Returns the identity from the claims of a verified ID token, and the user info of the same subject. Signed
 * claims override unsigned ones; an address and its verification have the same source.
 * @param issuer that of the ID token
 */
export function identityFromClaims(
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

/** Returns a member of a response by its path, with dots for nested members; own members only. */
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
 * Returns the identity from the user info of an upstream without ID tokens.
 * @param verifiedEmail an address that is verified by another endpoint
 * @returns undefined if the response contains no subject
 */
export function identityFromUserInfo(
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

/** Returns the primary verified address of a list like GitHub's; undefined if there is none. */
export function primaryAddress(list: unknown): string | undefined {
  if (!Array.isArray(list)) return undefined;
  const found = list.find((entry: JsonObject) => entry?.primary === true && isVerifiedClaim(entry.verified));
  return asAddress((found as JsonObject | undefined)?.email);
}

/** Requests the user info of the holder of an access token. */
export interface UserInfo {
  /**
   * Returns the response.
   * @throws UpstreamFault; `user_info_refused` if the token is rejected
   */
  read(endpoint: string, accessToken: string): Promise<JsonObject>;
  /**
   * Returns the identity, at an upstream without ID tokens.
   * @throws UpstreamFault
   */
  identify(
    endpoint: string,
    accessToken: string,
    about: { issuer: string; mapping: UserInfoMapping },
  ): Promise<UpstreamIdentity>;
}

/** @param name of the upstream */
export function createUserInfo(name: string, preset: UpstreamPreset, ask: Ask): UserInfo {
  const fault = (reason: 'user_info_refused' | 'user_info_malformed', detail?: string): UpstreamFault =>
    new UpstreamFault(name, kindOf(reason), reason, detail);
  const get = (url: string | URL, accessToken: string): Promise<Response> =>
    ask('user info', url, { headers: { authorization: `Bearer ${accessToken}` } });

  const read: UserInfo['read'] = async (endpoint, accessToken) => {
    const answer = await get(endpoint, accessToken);
    if (answer.status === 401) throw fault('user_info_refused');
    const body = parseObject(decodeBody(await answer.arrayBuffer()));
    if (preset.deadTokenErrors?.some((error) => error === body?.error)) throw fault('user_info_refused');
    if (!isSuccess(answer.status) || !body || body.ok === false) throw fault('user_info_malformed');
    return body;
  };

  /** Returns the verified address of a person, if the upstream lists them. The request may be denied. */
  async function findAddress(endpoint: string, accessToken: string): Promise<string | undefined> {
    if (preset.emailsPath === undefined) return undefined;
    const answer = await get(`${endpoint}/${preset.emailsPath}`, accessToken);
    if (answer.status !== 200) return undefined;
    return primaryAddress(await answer.json().catch(() => undefined));
  }

  return {
    read,
    async identify(endpoint, accessToken, { issuer, mapping }) {
      const answer = await read(endpoint, accessToken);
      const email = await findAddress(endpoint, accessToken);
      const identity = identityFromUserInfo(issuer, answer, mapping, email);
      if (!identity) throw fault('user_info_malformed', 'it names nobody');
      return identity;
    },
  };
}
