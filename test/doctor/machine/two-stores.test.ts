import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTokenFile } from '../../../src/client/node/token-file.ts';
import { twoStoresCheck } from '../../../src/doctor/machine/two-stores.ts';
import { finding, serverUrl, testMachine } from './test-machine.ts';

function keep(folder: string, accessToken: string): Promise<void> {
  return createTokenFile(folder).saveCredential(serverUrl, {
    authorizationServer: { issuer: 'https://as.example.com', token_endpoint: 'https://as.example.com/token' },
    resource: serverUrl,
    clientId: 'c',
    accessToken,
  });
}

describe('MACHINE-TWO-STORES', () => {
  it('passes with one place', async () => {
    expect(await finding(twoStoresCheck(testMachine()))).toMatchObject({ verdict: 'pass' });
  });

  it('finds two places with different logins to the server, and shows neither token', async () => {
    const machine = testMachine();
    const other = join(machine.workingFolder, 'kept');
    await keep(other, 'token-one');
    await keep(join(machine.home, '.gatehouse'), 'token-two');
    const found = await finding(twoStoresCheck({ ...machine, env: { GATEHOUSE_HOME: other } }));
    expect(found.verdict).toBe('warn');
    expect(found.saw).toContain(other);
    expect(JSON.stringify(found)).not.toMatch(/token-(one|two)/);
  });

  it('passes where only one of the two has a login', async () => {
    const machine = testMachine();
    const other = join(machine.workingFolder, 'kept');
    await keep(other, 'token-one');
    const found = await finding(twoStoresCheck({ ...machine, env: { GATEHOUSE_HOME: other } }));
    expect(found.verdict).toBe('pass');
  });
});
