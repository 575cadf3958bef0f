import { expect, it } from 'vitest';
import { createFindAbandonedGrants } from '../../../src/authorization-server/interactions/registered-anew.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import type { GrantRow } from '../../../src/storage/artifacts.ts';

const grantOf = (clientId: string, at: number): GrantRow => ({
  id: `${clientId}-${at}`,
  clientId,
  payload: Buffer.alloc(0),
  usedAt: 1,
  expiresAt: 10_000_000,
});

it.each([
  ['each registration once', (at: number) => `c${at % 2}`, 2],
  ['no more than a bounded number of registrations', (at: number) => `c${at}`, 200],
])(
  'A consent of an account with thousands of unused grants reads %s (FA-04, FA-53)',
  async (_what, idAt, expected) => {
    let reads = 0;
    const grants = Array.from({ length: 3000 }, (_, at) => grantOf(idAt(at), at));
    const findAbandonedGrants = createFindAbandonedGrants(
      {
        artifacts: { listGrants: async () => grants },
        clients: {
          find: async () => {
            reads++;
            return undefined;
          },
        },
      },
      createSealedBox([{ id: 'k', key: Buffer.alloc(32, 1).toString('base64url') }]),
      { accessTokenSeconds: 3600 },
      () => 9_000_000,
    );
    const client = {
      client_id: 'new',
      client_name: 'mcporter',
      redirect_uris: ['http://127.0.0.1:1/callback'],
    };
    expect(await findAbandonedGrants('ada', client, 'https://a.example/mcp')).toEqual([]);
    expect(reads).toBe(expected);
  },
);
