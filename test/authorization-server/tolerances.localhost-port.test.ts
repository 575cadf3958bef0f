import Provider from 'oidc-provider';
import { describe, expect, it } from 'vitest';
import { compareLocalhostPorts, serveTolerantly } from '../../src/authorization-server/tolerances.ts';

const provider = new Provider('http://localhost', {
  clients: [
    {
      client_id: 'app',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback', 'app://callback'],
    },
  ],
});
compareLocalhostPorts(provider);

async function ask(uri: string, isOn: boolean) {
  const client = await provider.Client.find('app');
  let taken: boolean | undefined;
  const tolerated = await serveTolerantly(
    () => isOn,
    async () => {
      taken = client?.redirectUriAllowed(uri);
    },
  );
  return { taken, tolerated: tolerated.map(({ because }) => because) };
}

describe('another port', () => {
  it('of localhost is taken where that is tolerated, and not otherwise (T-002)', async () => {
    const uri = 'http://localhost:49152/callback';
    expect(await ask(uri, true)).toEqual({ taken: true, tolerated: ['redirect_uri at localhost:49152'] });
    expect(await ask(uri, false)).toEqual({ taken: false, tolerated: [] });
  });

  it.each(['http://127.0.0.1:49152/callback', 'http://localhost/callback', 'app://callback'])(
    'is no quirk of %s, which is taken in any case',
    async (uri) => {
      expect(await ask(uri, false)).toEqual({ taken: true, tolerated: [] });
    },
  );

  it.each(['http://localhost:49152/other', 'http://localhost.evil:1/callback', 'https://localhost/callback'])(
    'does not make %s another URI than it is',
    async (uri) => {
      expect(await ask(uri, true)).toEqual({ taken: false, tolerated: [] });
    },
  );
});
