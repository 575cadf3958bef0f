import { expect, it } from 'vitest';
import { composeGuards } from '../../src/composition/guards.ts';
import { ownResources } from '../../src/composition/resources.ts';
import { createDpopNonces, createUsedProofs } from '../../src/resource-server/index.ts';

it('each family of transports has its own metadata document, and all name one issuer (A3-01)', () => {
  const issuer = 'https://mcp.example.com/base';
  const now = () => 1000;
  const guards = composeGuards({
    issuer,
    own: ownResources(issuer),
    server: { name: 'Notes', baselineScopes: ['read'] },
    verifier: { verify: () => Promise.reject(new Error('nobody calls')) } as never,
    grants: { acceptedCalls: { isNeeded: false, note: () => {} }, isServerChosen: async () => false },
    renderPage: () => ({ headers: {}, html: '' }),
    dpop: {
      required: true,
      requireNonce: false,
      publicOrigin: 'https://mcp.example.com',
      nonces: createDpopNonces(() => ['0123456789abcdef'], now),
      usedProofs: createUsedProofs(now),
      now,
    },
  });
  expect(Object.entries(guards).map(([name, { metadata }]) => [name, metadata.resource])).toEqual([
    ['mcp', `${issuer}/mcp`],
    ['sse', `${issuer}/sse`],
    ['rest', `${issuer}/rest`],
  ]);
  for (const { metadata } of Object.values(guards))
    expect(metadata).toMatchObject({
      authorization_servers: [issuer],
      scopes_supported: ['read'],
      resource_name: 'Notes',
      dpop_bound_access_tokens_required: true,
    });
});
