import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { composeLedger } from '../../src/composition/ledger.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { parseSettings, type SettingsInput } from '../../src/options.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';

async function partsFor(settings: SettingsInput, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-recording-'));
  const { storage, keys } = await openDataFolder(folder);
  onTestFinished(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const noted: string[] = [];
  const parts = {
    storage,
    keys,
    settings: parseSettings(settings),
    auditTrail: { note: (event: string) => void noted.push(event) },
    environment,
    version: '1',
    logger: createLogger('silent'),
  };
  return { folder, storage, parts, noted };
}

it('Nothing is recorded if the settings say so', async () => {
  const { parts } = await partsFor({ calls: { store: 'off' } });
  const { ledger, close } = composeLedger(parts);
  expect(ledger).toBeUndefined();
  await close();
});

it('The secret of an export that cannot be read stops the start with a sentence', async () => {
  const { parts } = await partsFor({ export: { url: 'https://siem.example/', secret: { env: 'NOT_SET' } } });
  expect(() => composeLedger(parts)).toThrow(SettingsRefused);
  expect(() => composeLedger(parts)).toThrow('export.secret: the environment has no NOT_SET: set it');
});

it('Audit events go to a file that the settings name', async () => {
  const { folder, storage, parts } = await partsFor({ calls: { store: 'off' } });
  const file = join(folder, 'records.jsonl');
  await storage.audit.append([{ at: 1, event: 'login.succeeded', details: {} }]);
  const { close } = composeLedger({ ...parts, settings: parseSettings({ export: { file } }) });
  await expect.poll(() => readFileSync(file, { encoding: 'utf8', flag: 'a+' })).toContain('login.succeeded');
  await close();
});
