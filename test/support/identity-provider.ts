import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { TestIssuer } from './trusted-issuer.ts';

/** The token endpoint of an identity provider, where clients get assertions for other servers (RFC 8693). */
export interface IdentityProviderEndpoint {
  tokenEndpoint: string;
  /** What a login of a person gives a client there. */
  logIn(sub: string, client: string): Promise<string>;
  /** The forms that came. */
  requests: Record<string, string>[];
  stop(): Promise<void>;
}

const tokenTypes = 'urn:ietf:params:oauth:token-type';

/**
 * Starts one, which makes an assertion for whoever brings an ID token that it gave that very client (A13-06).
 * @param ids the client's id at the server the assertion is for, by its id here
 */
export async function startIdentityProvider(
  idp: TestIssuer,
  ids: Record<string, string>,
): Promise<IdentityProviderEndpoint> {
  const requests: Record<string, string>[] = [];
  const keys = createLocalJWKSet(idp.jwks as Parameters<typeof createLocalJWKSet>[0]);
  const answer = async (form: Record<string, string>, client: string): Promise<object> => {
    if (
      form.requested_token_type !== `${tokenTypes}:id-jag` ||
      form.subject_token_type !== `${tokenTypes}:id_token`
    )
      return { error: 'invalid_request' };
    const { payload } = await jwtVerify(form.subject_token ?? '', keys, {
      issuer: idp.issuer,
      audience: client,
    });
    const about = {
      audience: form.audience ?? '',
      clientId: ids[client] ?? '',
      resource: form.resource ?? '',
    };
    const scope = form.scope === undefined ? {} : { scope: form.scope };
    return {
      issued_token_type: `${tokenTypes}:id-jag`,
      access_token: await idp.assertPerson(about, { sub: String(payload.sub), ...scope }),
      token_type: 'N_A',
      expires_in: 300,
    };
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()));
    requests.push(form);
    const [, basic = ''] = (request.headers.authorization ?? '').split(' ');
    const client = form.client_id ?? Buffer.from(basic, 'base64').toString().split(':')[0] ?? '';
    const body = await answer(form, client).catch(() => ({ error: 'invalid_request' }));
    response
      .writeHead('error' in body ? 400 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    tokenEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    logIn: (sub, client) => idp.assertWorkload(client, { sub }),
    requests,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
