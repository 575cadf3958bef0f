// Over src/authorization-server/server.ts and src/authorization-server/client-documents/host-policy.ts.
import { expect, it, onTestFinished, vi } from 'vitest';
import type { AuthorizationServerMetadata } from '../../../src/oauth/metadata.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { authorization } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

// The internet cannot be reached from tests: one host of it is put in its place.
vi.mock('../../../src/net/guarded-fetch.ts', async (load) => {
  const original = await load<typeof import('../../../src/net/guarded-fetch.ts')>();
  return {
    ...original,
    createGuardedFetch: (...options: Parameters<typeof original.createGuardedFetch>) => {
      const fetch = original.createGuardedFetch(...options);
      return (...asked: Parameters<typeof fetch>) =>
        asked[0].hostname === 'reached.example'
          ? Promise.resolve({ status: 404, headers: {}, body: Buffer.alloc(0) })
          : fetch(...asked);
    },
  };
});

async function start(host: string) {
  const gatehouse = await startGatehouse({
    clients: { metadataDocuments: { enabled: 'auto', allowedHosts: [host] } },
  });
  onTestFinished(() => gatehouse.stop());
  const isAnnounced = async () => {
    const response = await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`);
    const metadata = (await response.json()) as AuthorizationServerMetadata;
    return metadata.client_id_metadata_document_supported;
  };
  return { gatehouse, isAnnounced };
}

it('Documents of clients are announced once a start has found that they can be fetched (FA-52)', async () => {
  const { gatehouse, isAnnounced } = await start('reached.example');
  await vi.waitFor(async () => expect(await isAnnounced()).toBe(true), 5_000);
  expect(gatehouse.log.join('')).not.toContain('documents of clients cannot be fetched');
});

it('Documents of clients are not announced if none can be fetched, and the log and the page name the setting (FA-52)', async () => {
  const { gatehouse, isAnnounced } = await start('unreached.invalid');
  const said = 'documents of clients cannot be fetched from this machine';
  await vi.waitFor(() => expect(gatehouse.log.join('')).toContain(said), 5_000);
  expect(await isAnnounced()).toBeUndefined();

  const flow = authorization(gatehouse, 'https://unreached.invalid/client.json');
  const page = await createVisitor().request(flow.url);
  expect(page.status).toBe(503);
  expect(await page.text()).toContain('clients.metadataDocuments.enabled');
});
