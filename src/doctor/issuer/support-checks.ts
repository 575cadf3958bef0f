import { quote } from '../../client/quote.ts';
import { ask } from '../ask.ts';
import { type Check, fail, pass, skip, warn } from '../check.ts';
import { quoteOrMissing, readDocument, stringsOf } from '../document.ts';
import { judgingMetadata } from './places.ts';

const section = 'issuer';
const needs = ['AS-FOUND'] as const;

/** Checks for PKCE, which protects codes from theft. */
const pkce: Check = {
  id: 'AS-PKCE',
  section,
  title: 'The authorization server says that it supports PKCE with S256',
  clause: 'MCP authorization "Authorization Code Protection"; RFC 8414 section 2',
  needs,
  judge: judgingMetadata(({ members }) => {
    const methods = stringsOf(members.code_challenge_methods_supported);
    if (methods?.includes('S256'))
      return pass(`"code_challenge_methods_supported" is ${quote(methods.join(' '))}.`);
    const seen = methods ? quote(methods.join(' ')) : 'missing';
    return fail(
      `"code_challenge_methods_supported" is ${seen}. MCP clients must refuse to log in; lenient ones go on, strict ones stop.`,
      'Support PKCE, and publish "code_challenge_methods_supported": ["S256"].',
    );
  }),
};

/** Checks for the flow of MCP clients. */
const responseTypes: Check = {
  id: 'AS-RESPONSE-TYPES',
  section,
  title: 'The authorization server answers with codes',
  clause: 'RFC 8414 section 2',
  needs,
  judge: judgingMetadata(({ members }) => {
    const types = stringsOf(members.response_types_supported);
    if (types?.includes('code')) return pass(`"response_types_supported" is ${quote(types.join(', '))}.`);
    const publish = 'Publish "response_types_supported": ["code"].';
    return types
      ? fail(`"response_types_supported" is ${quote(types.join(', '))}, without code.`, publish)
      : warn(
          '"response_types_supported" is missing, which every metadata document has to have; strict clients refuse it.',
          publish,
        );
  }),
};

/** Checks for refresh tokens, without which logins are short. */
const grantTypes: Check = {
  id: 'AS-GRANT-TYPES',
  section,
  title: 'Codes and refresh tokens can be redeemed',
  clause: 'RFC 8414 section 2; MCP authorization "Refresh Tokens"',
  needs,
  judge: judgingMetadata(({ members }) => {
    const types = stringsOf(members.grant_types_supported);
    if (!types)
      return pass('"grant_types_supported" is missing, which means authorization_code and implicit.');
    const seen = `"grant_types_supported" is ${quote(types.join(' '))}`;
    if (!types.includes('authorization_code'))
      return fail(`${seen}, without authorization_code.`, 'Add "authorization_code": users log in with it.');
    if (!types.includes('refresh_token'))
      return warn(
        `${seen}, without refresh_token: users log in anew whenever a token ends.`,
        'Support refresh tokens, and add "refresh_token".',
      );
    return pass(`${seen}.`);
  }),
};

/** Checks for `iss` in authorization responses. */
const iss: Check = {
  id: 'AS-ISS',
  section,
  title: 'Authorization responses carry the issuer',
  clause: 'RFC 9207 section 3',
  needs,
  judge: judgingMetadata(({ members }) => {
    const value = members.authorization_response_iss_parameter_supported;
    if (value === true) return pass('"authorization_response_iss_parameter_supported" is true.');
    return warn(
      `"authorization_response_iss_parameter_supported" is ${quoteOrMissing(value)}: clients of several servers cannot tell whose answer they got (mix-up). MCP 2026-07-28 asks for it.`,
      'Send iss with each authorization response, and publish "authorization_response_iss_parameter_supported": true.',
    );
  }),
};

/** Checks that unknown clients can register. Even if the user has a client id, others have none. */
const registration: Check = {
  id: 'AS-REGISTRATION',
  section,
  title: 'Clients can introduce themselves',
  clause: 'MCP authorization "Client Registration Approaches"; RFC 7591 section 3',
  needs,
  judge: judgingMetadata(({ members }, { login }) => {
    const { registration_endpoint: endpoint, client_id_metadata_document_supported: documents } = members;
    const ways = [
      ...(documents === true ? ['client ID metadata documents'] : []),
      ...(typeof endpoint === 'string' ? [`dynamic registration at ${quote(endpoint)}`] : []),
    ];
    if (ways.length > 0) return pass(`They can by ${ways.join(' and by ')}.`);
    const found = login?.given === undefined ? fail : warn;
    return found(
      'There is neither a registration_endpoint nor client_id_metadata_document_supported: most clients cannot log in unless their user types in a client id.',
      'Support client ID metadata documents or dynamic registration; else tell users the client id (gatehouse login --client-id, and doctor --client-id).',
    );
  }),
};

/** Checks that clients without a secret can redeem codes. */
const clientAuthentication: Check = {
  id: 'AS-CLIENT-AUTH',
  section,
  title: 'Public clients can redeem codes',
  clause: 'RFC 8414 section 2; RFC 6749 section 2.1',
  needs,
  judge: judgingMetadata(({ members }) => {
    const methods = stringsOf(members.token_endpoint_auth_methods_supported);
    if (methods?.includes('none'))
      return pass(`"token_endpoint_auth_methods_supported" is ${quote(methods.join(' '))}.`);
    return warn(
      methods
        ? `"token_endpoint_auth_methods_supported" is ${quote(methods.join(' '))}, without none: clients on the user's machine, which can keep no secret, may be refused.`
        : '"token_endpoint_auth_methods_supported" is missing, which means client_secret_basic only.',
      'Allow public clients with PKCE, and add "none".',
    );
  }),
};

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** Checks that the device flow is announced completely. */
const device: Check = {
  id: 'AS-DEVICE',
  section,
  title: 'The device flow is announced with endpoint and grant type',
  clause: 'RFC 8628 section 4',
  needs,
  judge: judgingMetadata(({ members }) => {
    const endpoint = typeof members.device_authorization_endpoint === 'string';
    const grant = stringsOf(members.grant_types_supported)?.includes(deviceGrant) ?? false;
    if (!endpoint && !grant)
      return skip('It is not offered: logins from SSH and containers need a browser elsewhere.');
    if (endpoint && grant) return pass(`It is at ${quote(members.device_authorization_endpoint)}.`);
    return warn(
      endpoint
        ? `There is a device_authorization_endpoint, but "grant_types_supported" lacks ${deviceGrant}.`
        : `"grant_types_supported" has ${deviceGrant}, but there is no device_authorization_endpoint.`,
      'Publish both, or neither.',
    );
  }),
};

/** Checks that tokens can be revoked. */
const revocation: Check = {
  id: 'AS-REVOCATION',
  section,
  title: 'Tokens can be revoked',
  clause: 'RFC 7009 section 2',
  needs,
  judge: judgingMetadata(({ members }) => {
    const also =
      typeof members.introspection_endpoint === 'string' ? ' There is an introspection_endpoint too.' : '';
    if (typeof members.revocation_endpoint === 'string')
      return pass(`They can at ${quote(members.revocation_endpoint)}.${also}`);
    return skip(`There is no revocation_endpoint: a logout leaves tokens alive until they end.${also}`);
  }),
};

/** Checks of the supported features. */
export const supportChecks: readonly Check[] = [
  pkce,
  responseTypes,
  grantTypes,
  iss,
  registration,
  clientAuthentication,
  device,
  revocation,
];

/** Members of private keys (RFC 7518 sections 6.2.2 and 6.3.2). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

/** Checks that the keys can verify tokens. */
const keys: Check = {
  id: 'AS-KEYS',
  section: 'issuer',
  title: 'The published keys load, are public, and can be told apart',
  clause: 'RFC 7517 sections 4.5, 5 and 9.2; RFC 8725 section 3.1',
  needs: ['AS-FOUND'],
  judge: judgingMetadata(async ({ members }, subject) => {
    const place = members.jwks_uri;
    if (place === undefined) return skip('There is no jwks_uri: tokens are not verified by signature.');
    if (typeof place !== 'string')
      return fail(`"jwks_uri" is ${quote(place)}.`, 'Publish the absolute URL of the key set.');
    const answer = await ask(subject, place, { headers: { accept: 'application/json' } });
    const published = readDocument(answer);
    const { evidence } = answer;
    const list = published.kind === 'document' ? published.members.keys : undefined;
    if (!Array.isArray(list))
      return fail(
        `${place} holds no key set: ${published.kind === 'unusable' ? published.why : published.kind === 'absent' ? 'there is nothing' : '"keys" is missing'}.`,
        'Serve {"keys": [...]} there, as application/json.',
        { evidence },
      );
    const entries = list.map((key) => Object(key) as Record<string, unknown>);
    const name = (key: Record<string, unknown>): string => quote(key.kid ?? 'without kid');
    for (const key of entries) {
      const secret = key.kty === 'oct' ? 'k' : privateMembers.find((member) => key[member] !== undefined);
      if (secret !== undefined)
        return fail(
          `The key ${name(key)} has the member "${secret}": it is ${key.kty === 'oct' ? 'a shared secret' : 'private'}, and everybody can sign tokens with it.`,
          'Replace this key now, and publish public members only.',
          { evidence },
        );
      if (/^(?:none|HS\d+)$/i.test(String(key.alg ?? '')))
        return fail(
          `The key ${name(key)} has "alg": ${quote(key.alg)}, which anybody can forge.`,
          'Sign with ES256, EdDSA or RS256.',
          { evidence },
        );
    }
    const ids = entries.map(({ kid }) => kid);
    if (entries.length > 1 && (ids.includes(undefined) || new Set(ids).size < ids.length))
      return warn(
        'Of several keys some have no "kid", or share one: verifiers have to guess.',
        'Give each key a "kid" of its own.',
        { evidence },
      );
    return pass(
      `${entries.length} public key(s): ${entries.map((key) => `${name(key)} ${quote(key.alg ?? key.kty)}`).join(', ')}.`,
      { evidence },
    );
  }),
};

/** Checks of the key set. */
export const keyChecks: readonly Check[] = [keys];
