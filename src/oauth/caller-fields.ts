import type { AuthInfo } from './auth-info.ts';

/** Fields of an account, and of its login at an upstream: the same for all requests of a grant. */
export const accountFields = [
  'sub',
  'email',
  'email_verified',
  'name',
  'groups',
  'roles',
  'upstream_iss',
  'upstream_sub',
] as const;

/** Fields that all logins of an account share: the others come from the upstream of a login. */
export const sharedFields: readonly string[] = ['sub', 'email'] satisfies (typeof accountFields)[number][];

/** Fields of the client of a call. */
export const clientFields = ['client_id', 'client_name'] as const;

/** Fields of the access token of a call, and of the login behind it. */
export const loginFields = ['scope', 'grant_id', 'auth_time', 'amr'] as const;

/** Fields of a caller that a backend may learn, by the names of their claims. */
export const callerFields = [...accountFields, ...clientFields, ...loginFields] as const;

/** One of {@link callerFields}. */
export type CallerField = (typeof callerFields)[number];

/**
 * Returns the header of the assertion about a caller, in lower case.
 * @param setting true for the default, or the header
 * @returns undefined if there is no assertion
 */
export function headerOfAssertion(setting: boolean | { header: string } | undefined): string | undefined {
  if (typeof setting === 'object') return setting.header.toLowerCase();
  return setting ? 'x-gatehouse-assertion' : undefined;
}

/** Value of a field. */
type FieldValue = string | number | boolean | readonly string[];

/** Returns the value of a field; undefined if the caller has none. */
export function callerField(caller: AuthInfo, field: CallerField): FieldValue | undefined {
  const { upstream, client } = caller;
  switch (field) {
    case 'sub':
      return caller.subject;
    case 'email':
      return caller.email;
    case 'email_verified':
      return caller.emailVerified;
    case 'name':
      return caller.displayName;
    case 'groups':
      return upstream?.groups;
    case 'roles':
      return upstream?.roles;
    case 'upstream_iss':
      return upstream?.issuer;
    case 'upstream_sub':
      return upstream?.subject;
    case 'client_id':
      return caller.clientId;
    case 'client_name':
      return client?.name;
    case 'scope':
      return caller.scopes.join(' ');
    case 'grant_id':
      return caller.grantId;
    case 'auth_time':
      return caller.authTime;
    case 'amr':
      return caller.amr;
  }
}

/**
 * Returns the value of a field as text. A list is a JSON array in ASCII: joined by commas, a name with a comma would be
 * two names.
 * @returns undefined if the caller has none, or an empty one
 */
export function callerText(caller: AuthInfo, field: CallerField): string | undefined {
  const value = callerField(caller, field);
  const text = Array.isArray(value) ? asciiJson(value) : String(value ?? '');
  return text === '' ? undefined : text;
}

function asciiJson(value: readonly string[]): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Selects the values that together are within a number of bytes, the shortest first. Values of the client come last: a
 * client can choose long ones, and must not push out the groups of the account. A value that does not fit is left out
 * whole: part of a list would look complete.
 * @param sizes bytes of each value, with its name and its field
 * @returns the names of the values that are left out
 */
export function omitBeyond(
  sizes: readonly (readonly [name: string, bytes: number, field: string])[],
  maxBytes: number,
): string[] {
  const isOfClient = (field: string): boolean => (clientFields as readonly string[]).includes(field);
  let left = maxBytes;
  return sizes
    .toSorted(([, a, field], [, b, other]) => Number(isOfClient(field)) - Number(isOfClient(other)) || a - b)
    .filter(([, bytes]) => {
      const isOmitted = bytes > left;
      if (!isOmitted) left -= bytes;
      return isOmitted;
    })
    .map(([name]) => name);
}

/** The header that names the headers about a caller that are left out because they are too long. */
export const omittedHeader = 'x-gatehouse-omitted';

/**
 * Returns the claims of an assertion about a caller, without those of the assertion itself (OpenID Connect Core 1.0
 * section 5.1, RFC 9068 section 2.2).
 * @param maxBytes maximum length of their values; those that do not fit are left out, and `omitted` names them
 */
export function callerClaims(
  caller: AuthInfo,
  maxBytes: number = Number.POSITIVE_INFINITY,
): Record<string, unknown> {
  const { upstream } = caller;
  const fields = callerFields.filter((field) => !field.startsWith('upstream_'));
  const selected = 'upstream.claims';
  const values = [
    ...fields.map((field) => [field, callerField(caller, field)] as const),
    [selected, upstream?.claims] as const,
  ].filter(([, value]) => value !== undefined);
  const omitted = omitBeyond(
    values.map(([name, value]) => [name, new TextEncoder().encode(JSON.stringify(value)).length, name]),
    maxBytes,
  );
  const kept = values.filter(([name]) => name !== selected && !omitted.includes(name));
  return {
    ...Object.fromEntries(kept),
    ...(upstream && {
      upstream: {
        name: upstream.name,
        iss: upstream.issuer,
        sub: upstream.subject,
        ...(upstream.claims && !omitted.includes(selected) && { claims: upstream.claims }),
      },
    }),
    ...(omitted.length > 0 && { omitted }),
  };
}
