import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLocalGatehouse, SettingsRefused } from '../src/index.ts';
import { createLogger } from '../src/observability/logger.ts';
import { startGatehouse } from './support/gatehouse.ts';

// Also the test of src/notes-server.ts: it is what is served where no server was brought.

test('a local host gets the notes of the account it acts for (B1-02)', async () => {
  const gatehouse = await startGatehouse();
  const { storage } = gatehouse;
  const [account] = await storage.accounts.list();
  const accountId = account?.id ?? '';
  await storage.notes.add(accountId, 'Water the plants', 1_800_000_000);
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const local = createLocalGatehouse({
    storage,
    accountId,
    stdin,
    stdout,
    logger: createLogger('silent'),
  });
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'n', version: '1' },
  };
  const search = { name: 'search_notes', arguments: { query: 'plants' } };
  for (const message of [
    { id: 1, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: search },
  ])
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let heard = '';
  for await (const chunk of stdout) {
    heard += chunk;
    if (heard.includes('"id":2')) break;
  }
  expect(heard).toContain('Water the plants');
  await local.close();
  await gatehouse.stop();
});

test('settings that cannot be used are refused, all at once', async () => {
  const gatehouse = await startGatehouse();
  const { storage } = gatehouse;
  expect(() =>
    createLocalGatehouse({ storage, accountId: 'a', publicUrl: 'ftp://x', log: { level: 'loud' as 'info' } }),
  ).toThrow(SettingsRefused);
  await gatehouse.stop();
});

test('routes are refused where no server is given, rather than notes served in their place', async () => {
  const gatehouse = await startGatehouse();
  const { storage } = gatehouse;
  const routes = { files: { backend: { command: 'files-server' } } };
  expect(() => createLocalGatehouse({ storage, accountId: 'a', routes })).toThrow(/- routes: .*connect/);
  await gatehouse.stop();
});
