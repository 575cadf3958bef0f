import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findUnusableClients } from '../../../src/authorization-server/administration/unusable-clients.ts';
import { parseSettings } from '../../../src/options.ts';
import { testFolder } from '../../client/support/folder.ts';

const job = {
  clientId: 'nightly',
  name: 'The nightly job',
  authMethod: 'client_secret_basic' as const,
  grantTypes: ['client_credentials' as const],
  scopes: ['whatever:there-is'],
};

function find(secret: string | undefined, clientCredentials: boolean): string[] {
  const secretFile = join(testFolder(), 'secret');
  if (secret !== undefined) writeFileSync(secretFile, secret);
  const clients = { clientCredentials, preRegistered: [{ ...job, secretFile }] };
  return findUnusableClients(parseSettings({ clients }));
}

describe('clients of the settings a server would not start with', () => {
  it('are none where all is well, whatever scopes they name', () => {
    expect(find('s'.repeat(32), true)).toEqual([]);
    expect(findUnusableClients(parseSettings({}))).toEqual([]);
  });

  it.each([
    [
      'a secret that is not there',
      undefined,
      true,
      /^clients\.preRegistered\.0\.secretFile: .* cannot be read/,
    ],
    ['a short secret', 'short', true, /^clients\.preRegistered\.0\.secretFile: .* at least 32 characters/],
    [
      'a grant that is off',
      's'.repeat(32),
      false,
      /^clients\.preRegistered\.0\.grantTypes: client_credentials/,
    ],
  ])('are named: %s', (_what, secret, clientCredentials, problem) => {
    expect(find(secret, clientCredentials)).toEqual([expect.stringMatching(problem)]);
  });
});
