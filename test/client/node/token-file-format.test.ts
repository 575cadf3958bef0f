import { describe, expect, it } from 'vitest';
import { formatTokenFile, parseTokenFile } from '../../../src/client/node/token-file-format.ts';
import { emptyStoreData, type StoreData } from '../../../src/client/stores/store-data.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';

describe('the text of a token file', () => {
  it('gives back what was written', () => {
    const key = { kty: 'EC', alg: 'ES256', crv: 'P-256', x: 'x', y: 'y', d: 'd' };
    const book = {
      registrations: { 'https://as.example': testRegistration({ clientSecret: 's', privateKey: key }) },
      replaced: { '["https://as.example","earlier"]': testRegistration({ clientId: 'earlier' }) },
      credentials: {
        k: testCredential({
          renewAt: 1,
          dpopKey: key,
          withoutResource: true,
          grant: { type: 'client_credentials', privateKey: key },
          workload: true,
        }),
      },
      logins: { 'https://mcp.example/mcp': 'k' },
      ended: {
        'https://mcp.example/rest': {
          issuer: 'https://as.example',
          machine: { grant: 'workload_identity', clientId: 'ci', proof: 'assertion' },
          chosen: { dpop: true, withoutResource: true },
        },
      },
    } satisfies StoreData;
    expect(parseTokenFile(formatTokenFile(book))).toEqual(book);
    expect(JSON.parse(formatTokenFile(emptyStoreData()))).toMatchObject({ version: 1 });
  });

  it('of an earlier version, which knew neither logins that have ended nor clients that were replaced, is read', () => {
    const earlier = '{"version":1,"registrations":{},"credentials":{},"logins":{}}';
    expect(parseTokenFile(earlier)).toEqual(emptyStoreData());
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"version":2,"registrations":{},"credentials":{},"logins":{}}',
    '{"version":1}',
  ])('%s is no token file', (text) => {
    expect(parseTokenFile(text)).toBeUndefined();
  });
});
