/** Members of forms, queries and JSON documents that hold a secret, as OAuth, OpenID Connect and SDKs name them. */
const secretMembers = [
  'access_token',
  'refresh_token',
  'id_token',
  'id_token_hint',
  'registration_access_token',
  'initial_access_token',
  'subject_token',
  'actor_token',
  'token',
  'code',
  'code_verifier',
  'device_code',
  'user_code',
  'client_secret',
  'client_assertion',
  'assertion',
  'password',
  'secret',
  'api_key',
] as const;

/** Names that hold a secret in a URL only; elsewhere they are everyday words. */
const secretInUrls = ['key', 'sig', 'signature'] as const;

/** Snake case for a name however it is written: `accessToken`, `ACCESS_TOKEN`, `x-api-key`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}

/** Pattern of all names, camel case included. */
function alternatives(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('_', '[_-]?')).join('|');
}

/** Alternatives of a regular expression for the members of documents and forms that hold a secret. */
export const secretMemberPattern = alternatives(secretMembers);

/** The same for parameters of URLs. */
export const secretParameterPattern = alternatives([...secretMembers, ...secretInUrls]);

/** Header fields that hold a secret besides those with a rule of their own. */
export const secretHeaderPattern =
  /^(?:proxy-authorization|cookie|dpop|mcp-session-id|.*(?:api-?key|token|secret|password|signature).*)$/i;

/**
 * What stands in the place of a secret: its name in angle brackets, which no serialized URL can hold.
 * @param name what the secret is called on the wire
 */
export function marker(name: string): string {
  return `<secret:${snakeCase(name)}>`;
}

/** Finds what {@link marker} wrote. */
export const markerPattern = /<secret:([a-z][a-z0-9_]*)>/g;
