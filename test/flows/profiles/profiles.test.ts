// Real clients, as src/oauth/client-profiles/client-profiles.ts records them, at a real server process (flows of
// src/authorization-server/tolerances.ts and src/oauth/tolerances.ts).
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientProfile } from '../../../src/oauth/client-profiles/client-profile.ts';
import { clientProfiles } from '../../../src/oauth/client-profiles/client-profiles.ts';
import { type ToleranceName, toleranceNames } from '../../../src/oauth/tolerances.ts';
import { type DocumentHost, startDocumentHost, trustDocumentHosts } from '../../support/document-host.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { runGatehouse } from '../../support/served.ts';
import { oneIn } from '../../support/share.ts';
import { placeOf } from '../../support/test-storage.ts';
import { type Restartable, startRestartable } from '../crash/served.ts';
import { generousLimits } from '../token/subject.ts';
import { agreeOn, impersonate, Stopped } from './support/impersonate.ts';
import { type Processes, startProcesses } from './support/processes.ts';

const names = [
  'claude-ai',
  'claude-code',
  'chatgpt',
  'codex',
  'cursor',
  'vscode',
  'inspector',
  'mcp-remote',
  'copilot-cli',
  'gemini-cli',
  'mcporter',
];
const chosen = clientProfiles.filter(({ name }) => names.includes(name));

const folder = testFolderForFile();
let host: DocumentHost;
let served: Restartable;
let processes: Processes;
beforeAll(async () => {
  trustDocumentHosts();
  host = await startDocumentHost();
  processes = await startProcesses(5);
  const certificate = join(folder, 'documents.pem');
  await writeFile(certificate, host.certificate);
  served = await startRestartable(
    folder,
    { limits: generousLimits, dangerously: { fetchFromLoopback: true } },
    { NODE_EXTRA_CA_CERTS: certificate },
  );
});
afterAll(async () => {
  await processes.stop();
  await served.stop();
  await host.stop();
});

/** The way of a login up to the first refresh, from five processes at once; the step at which it ends. */
async function walk(profile: ClientProfile, mcpUrl: string): Promise<string> {
  const client = impersonate(profile, mcpUrl, host);
  try {
    const kept = await client.logIn();
    await client.callTool(kept.accessToken);
    await client.callTool(agreeOn(await processes.sendAll(await client.refreshErrand(kept))).accessToken);
    return 'got through';
  } catch (error) {
    if (error instanceof Stopped) return error.step;
    throw error;
  }
}

describe('a client behaves as it is recorded, and', () => {
  it.each(oneIn(3, chosen))(
    '$name logs in, calls, refreshes from five processes at once, and survives a killed server and a removed registration (AS-1, T-043, T-165)',
    async (profile) => {
      const client = impersonate(profile, served.at.mcpUrl, host);
      const first = await client.logIn();
      await client.callTool(first.accessToken);
      const errand = await client.refreshErrand(first);
      const second = agreeOn(await processes.sendAll(errand));
      await client.callTool(second.accessToken);

      await served.kill();
      await served.restart();
      await client.callTool(second.accessToken);
      expect(agreeOn(await processes.sendAll(errand))).toEqual(second);
      const later = { clientId: first.clientId, ...second };
      const third = agreeOn(await processes.sendAll(await client.refreshErrand(later)));
      await client.callTool(third.accessToken);

      if (profile.document) return;
      const removed = await runGatehouse(['client', 'remove', first.clientId, ...(await placeOf(folder))]);
      expect(removed.code, removed.stderr).toBe(0);
      await expect(client.callTool(third.accessToken)).rejects.toThrow(Stopped);
      expect(await client.noticesUnknownClient(later)).toBe(true);
      const anew = await client.logIn();
      expect(anew.clientId).not.toBe(first.clientId);
      await client.callTool(anew.accessToken);
    },
    120_000,
  );
});

/** Where a client stops that needs a tolerance which is switched off. */
const stopsAt: Partial<Record<ToleranceName, string[]>> = {
  repeatedRefresh: ['refresh'],
  unaskedRefreshToken: ['token'],
  localhostPort: ['authorization'],
  applicationType: ['registration', 'authorization'],
  authMethodChoices: ['authorization'],
  missingScope: ['authorization'],
  resourceSpelling: ['authorization'],
  shortenedResource: ['token'],
};

describe('without a tolerance', () => {
  const needed = toleranceNames.filter((name) => chosen.some(({ needs }) => needs.includes(name)));

  it.each(needed)(
    '%s those stop that need it, and another goes on',
    async (name) => {
      const at = await startGatehouse({
        limits: generousLimits,
        clients: { tolerances: { [name]: false } },
        dangerously: { fetchFromLoopback: true },
      });
      try {
        for (const profile of chosen.filter(({ needs }) => needs.includes(name)))
          expect(stopsAt[name], profile.name).toContain(await walk(profile, at.mcpUrl));
        const other = chosen.find(({ needs }) => !needs.includes(name));
        if (other) expect(await walk(other, at.mcpUrl)).toBe('got through');
      } finally {
        await at.stop();
      }
    },
    120_000,
  );
});
