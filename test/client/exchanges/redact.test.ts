import { describe, expect, it } from 'vitest';
import {
  createRedaction,
  marker,
  markerPattern,
  secretHeaderPattern,
  secretMemberPattern,
} from '../../../src/client/exchanges/redact.ts';

const secret = 'Zx81-very~secret.value_0042';

function body(text: string): string {
  return createRedaction().body(text, true);
}

describe('a redaction', () => {
  it.each([
    ['a token answer', `{"access_token":"${secret}","token_type":"Bearer","expires_in":60}`],
    ['a token answer with spaces', `{ "refresh_token" : "${secret}" }`],
    ['camel case', `{"accessToken":"${secret}"}`],
    ['an id token', `{"id_token":"${secret}"}`],
    ['a registration', `{"client_id":"c","client_secret":"${secret}"}`],
    ['escaped quotes', `{"client_secret":"a\\"${secret}"}`],
    ['JSON inside JSON', JSON.stringify({ text: JSON.stringify({ access_token: secret }) })],
    ['an event stream', `event: message\ndata: {"access_token":"${secret}"}\n\n`],
    ['a token request', `grant_type=authorization_code&code=${secret}&state=s`],
    ['a verifier', `code_verifier=${secret}`],
    ['an assertion', `client_assertion_type=x&client_assertion=${secret}`],
    ['a revocation', `token=${secret}&client_id=c`],
    ['a page with a link', `<a href="https://a/cb?state=1&amp;code=${secret}">`],
    ['a JSON Web Token anywhere', `refused: eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl`],
    ['a private key', `{"keys":[{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"${secret}"}]}`],
    ['a body that is cut', `{"access_token":"${secret}`],
  ])('takes the secret out of %s (T-191)', (_what, text) => {
    const redacted = body(text);
    expect(redacted).toMatch(/<secret:[a-z_]+>/);
    expect(redacted).not.toContain(secret);
    expect(redacted).not.toContain('eyJ');
  });

  it('leaves everything else as it was', () => {
    const innocent =
      '{"error":"invalid_token","code":"UNAUTHORIZED","token_type":"Bearer","token_endpoint":"https://a/token","code_challenge_methods_supported":["S256"],"jsonrpc":"2.0","x":{"code":-32600}}';
    expect(body(innocent)).toBe(innocent);
    expect(body('grant_type=authorization_code&state=abc&client_id=c')).toBe(
      'grant_type=authorization_code&state=abc&client_id=c',
    );
  });

  it('takes user, code and tokens out of URLs, and keeps the state', () => {
    const { url } = createRedaction();
    expect(url(`https://u:p@a.example/cb?code=${secret}&state=s&iss=https%3A%2F%2Fa`)).toBe(
      'https://<secret:userinfo>@a.example/cb?code=<secret:code>&state=s&iss=https%3A%2F%2Fa',
    );
    expect(url(`https://a.example/mcp?api_key=${secret}#access_token=${secret}`)).toBe(
      'https://a.example/mcp?api_key=<secret:api_key>#access_token=<secret:access_token>',
    );
  });

  it('takes credentials out of header fields', () => {
    const redacted = createRedaction().headers(
      new Headers([
        ['authorization', `DPoP ${secret}`],
        ['cookie', `a=${secret}`],
        ['dpop', secret],
        ['location', `https://a/cb?code=${secret}&state=1`],
        ['mcp-session-id', secret],
        ['set-cookie', `sid=${secret}; Path=/; HttpOnly`],
        ['www-authenticate', 'Bearer error="invalid_token", resource_metadata="https://a/x"'],
        ['x-api-key', secret],
      ]),
    );
    expect(Object.fromEntries(redacted)).toEqual({
      authorization: 'DPoP <secret:access_token>',
      cookie: '<secret:cookie>',
      dpop: '<secret:dpop_proof>',
      location: 'https://a/cb?code=<secret:code>&state=1',
      'mcp-session-id': '<secret:mcp_session_id>',
      'set-cookie': 'sid=<secret:cookie>; Path=/; HttpOnly',
      'www-authenticate': 'Bearer error="invalid_token", resource_metadata="https://a/x"',
      'x-api-key': '<secret:x_api_key>',
    });
    expect(createRedaction().headers(new Headers({ authorization: secret }))).toEqual([
      ['authorization', '<secret:authorization>'],
    ]);
  });

  it('knows a secret again wherever it comes back, even cut off', () => {
    const redaction = createRedaction();
    redaction.headers(new Headers({ authorization: `Bearer ${secret}` }));
    expect(redaction.body(`no such token: ${secret}`, true)).toBe('no such token: <secret:access_token>');
    expect(redaction.body(`no such token: ${secret.slice(0, 12)}`, false)).toBe(
      'no such token: <secret:access_token>',
    );
    expect(redaction.url(`https://a/x/${secret}`)).toBe('https://a/x/<secret:access_token>');
  });
});

describe('names of secrets', () => {
  it.each(['access_token', 'accessToken', 'CLIENT-SECRET', 'code', 'api-key'])('count %s', (name) => {
    expect(new RegExp(`^(?:${secretMemberPattern})$`, 'i').test(name)).toBe(true);
  });

  it.each(['state', 'scope', 'token_type', 'token_endpoint', 'code_challenge', 'client_id'])(
    'leave %s alone',
    (name) => {
      expect(new RegExp(`^(?:${secretMemberPattern})$`, 'i').test(name)).toBe(false);
    },
  );

  it.each(['cookie', 'DPoP', 'X-Api-Key', 'Mcp-Session-Id', 'x-goog-iap-jwt-token'])(
    'count the field %s',
    (name) => {
      expect(secretHeaderPattern.test(name)).toBe(true);
    },
  );

  it('stand in the place of the secret in snake case, and are found there', () => {
    expect(marker('X-Api-Key')).toBe('<secret:x_api_key>');
    expect(marker('accessToken')).toBe('<secret:access_token>');
    expect([...`a ${marker('code')} b <b>`.matchAll(markerPattern)].map(([, name]) => name)).toEqual([
      'code',
    ]);
  });
});
