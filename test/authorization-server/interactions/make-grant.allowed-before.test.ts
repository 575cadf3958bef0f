import { expect, it } from 'vitest';
import { payloadContext } from '../../../src/authorization-server/engine/stored-rows.ts';
import { createAllowedBefore } from '../../../src/authorization-server/interactions/make-grant.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import type { GrantRow } from '../../../src/storage/artifacts.ts';

const box = createSealedBox([{ id: 'k', key: Buffer.alloc(32, 7).toString('base64url') }]);
const mcp = 'https://mcp.example.com/mcp';

function row(
  id: string,
  resources: Record<string, string> | undefined,
  rejected?: { resources: Record<string, string> },
): GrantRow {
  const payload = box.seal(JSON.stringify({ resources, rejected }), payloadContext('Grant', id));
  return { id, clientId: 'client', payload, expiresAt: 2_000 };
}

it('names every grant at the resource, also one of what needs no scope, and all the scopes they give there', async () => {
  const asked: unknown[] = [];
  const allowedBefore = createAllowedBefore(
    {
      listLiveGrants: async (...query) => {
        asked.push(query);
        return [
          row('g1', { [mcp]: 'notes:read' }),
          row('g2', { [mcp]: 'notes:read notes:write', 'https://mcp.example.com/sse': 'admin' }),
          row('g3', { 'https://mcp.example.com/sse': 'admin' }),
          row('g4', undefined),
          row('g5', undefined, { resources: { [mcp]: 'notes:read' } }),
        ];
      },
    },
    box,
    () => 1_000,
  );
  expect(await allowedBefore('ada', 'client', mcp, 20)).toEqual({
    grantIds: ['g1', 'g2', 'g5'],
    scopes: new Set(['notes:read', 'notes:write']),
    mayHaveMore: false,
  });
  expect(asked).toEqual([['ada', 'client', 1_000, 20]]);
});

it('says where there may be more than was looked at, whatever resource that was of', async () => {
  const rows = [row('g1', { 'https://mcp.example.com/sse': 'admin' }), row('g2', undefined)];
  const allowedBefore = createAllowedBefore({ listLiveGrants: async () => rows }, box, () => 1_000);
  const nothing = { grantIds: [], scopes: new Set() };
  expect(await allowedBefore('ada', 'client', mcp, 2)).toEqual({ ...nothing, mayHaveMore: true });
  expect(await allowedBefore('ada', 'client', mcp, 3)).toEqual({ ...nothing, mayHaveMore: false });
  expect(await allowedBefore('ada', 'client', mcp)).toEqual({ ...nothing, mayHaveMore: false });
});
