import { describe, expect, it } from 'vitest';
import { CliError } from '../../../../src/cli/cli-error.ts';
import {
  describeEnd,
  formatLogin,
  formatLogins,
  loginAsJson,
} from '../../../../src/cli/commands/mcp-client/login-text.ts';
import { startOfTime } from '../../../client/support/context.ts';
import { testCredential } from '../../../client/support/credentials.ts';
import { testIo } from '../../support/client-commands.ts';

const now = startOfTime;
const login = { server: 'https://mcp.example/mcp', credential: testCredential() };
const broken = { ...login, isChecked: true, failure: new CliError('No.', 3) };

describe('how long a login lasts', () => {
  it.each([
    [{ expiresAt: now + 3000 }, 'in 50 min, then renewed'],
    [{ expiresAt: now + 3000, refreshToken: undefined }, 'in 50 min'],
    [{ expiresAt: now + 86_400, refreshToken: undefined }, 'in 24 h'],
    [{ expiresAt: now }, 'renewed at the next call'],
    [{ expiresAt: now, refreshToken: undefined }, 'has ended'],
    [{ expiresAt: undefined }, 'unknown, renewed when refused'],
    [{ expiresAt: undefined, refreshToken: undefined }, 'unknown'],
    [
      { expiresAt: now, refreshToken: undefined, grant: { type: 'client_credentials' as const } },
      'renewed at the next call',
    ],
  ])('%j: %s', (overrides, text) => {
    expect(describeEnd(testCredential(overrides), now)).toBe(text);
  });
});

describe('logins as they are shown', () => {
  it('one of them, a line for each thing', () => {
    const { io } = testIo();
    const text = formatLogin(login, io);
    expect(text).toContain('Server                https://mcp.example/mcp\n');
    expect(text).toContain('Ends                  in 60 min, then renewed\n');
    expect(text).not.toContain('State');
    expect(formatLogin(broken, io)).toContain('State                 No.\n');
  });

  it('all of them as a table, fit for a terminal (T-190)', () => {
    const { io } = testIo();
    const odd = { ...login, credential: testCredential({ scopes: ['\u001b[31mred'] }) };
    const text = formatLogins([odd, broken], io);
    expect(text.split('\n')[0]).toMatch(/^SERVER +AUTHORIZATION SERVER +SCOPES +ENDS +STATE$/);
    expect(text).not.toContain('\u001b');
  });

  it('without tokens, as JSON (T-191)', () => {
    const shown = loginAsJson({ ...login, credential: testCredential({ accessToken: 'very-secret' }) });
    expect(JSON.stringify(shown)).not.toContain('very-secret');
    expect(shown).not.toHaveProperty('works');
    expect(loginAsJson(broken)).toMatchObject({ works: false, why: 'No.' });
    expect(loginAsJson({ ...login, isChecked: true })).toMatchObject({ works: true });
  });
});
