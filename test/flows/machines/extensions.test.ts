import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectServer, type HttpTransportKind, type KnownServer } from '../../../src/client/index.ts';
import { clientCredentialsExtension, enterpriseManagedExtension } from '../../../src/oauth/metadata.ts';
import { createTestIssuer } from '../../support/trusted-issuer.ts';
import { serverForms } from '../features/support/forms.ts';
import { type Front, startFront } from '../features/support/front.ts';

// Over src/mcp/sdk/conversation-filters.ts.

const both = { [clientCredentialsExtension]: {}, [enterpriseManagedExtension]: {} };

/** What a gatehouse tells a client that the server can do. */
async function toldBy(front: Front, transport: HttpTransportKind, era: KnownServer['era']) {
  const { url, accessToken } = front[transport === 'http' ? 'mcp' : transport];
  const connection = await connectServer({
    url: url.href,
    transport,
    clientInfo: { name: 'c', version: '1' },
    fetch: (to, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${accessToken}`);
      return fetch(to, { ...init, headers });
    },
    ...(era === 'legacy' ? { known: { transport, era } } : {}),
  });
  onTestFinished(() => connection.close());
  expect(connection.known.era).toBe(era);
  return connection.client.getServerCapabilities();
}

const trusted = async () => {
  const { issuer, jwks } = await createTestIssuer('https://idp.example.com');
  return { issuer, jwks };
};

describe.each(serverForms)('in front of $name', (form) => {
  let front: Front;
  beforeAll(async () => {
    front = await startFront(form, {
      clients: { clientCredentials: true },
      trustedIssuers: [
        { ...(await trusted()), identityAssertions: { accounts: { subjects: { a: 'ada@example.com' } } } },
      ],
    });
  });
  afterAll(() => front.stop());

  it.each([
    ['http', 'modern'],
    ['http', 'legacy'],
    ['sse', 'legacy'],
    ['rest', 'legacy'],
  ] as const)('the ways in are declared over %s, %s (A13-01, A13-04)', async (transport, era) => {
    expect(await toldBy(front, transport, era)).toMatchObject({ tools: {}, extensions: both });
  });
});

describe('what is not set up', () => {
  const [form] = serverForms;
  if (!form) throw new Error('no form');

  it.each([
    ['nothing', {}, undefined],
    [
      'clients that act for themselves',
      { clients: { clientCredentials: true } },
      [clientCredentialsExtension],
    ],
  ])('is not declared: %s is (A13-11)', async (_what, settings, names) => {
    const front = await startFront(form, settings);
    onTestFinished(() => front.stop());
    for (const era of ['modern', 'legacy'] as const) {
      const { extensions } = (await toldBy(front, 'http', era)) ?? {};
      expect(extensions && Object.keys(extensions), era).toEqual(names);
    }
  });

  it('is not declared: an issuer may speak for workloads alone (A13-11)', async () => {
    const workloads = [{ clientId: 'deploy', claims: { sub: 'job' }, scopes: ['mcp'] }];
    const front = await startFront(form, {
      trustedIssuers: [{ ...(await trusted()), workloads }],
      mcp: { sessions: 'none' },
    });
    onTestFinished(() => front.stop());
    expect(await toldBy(front, 'http', 'legacy')).not.toHaveProperty('extensions');
  });
});
