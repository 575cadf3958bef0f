import { describe, expect, it } from 'vitest';
import { tellProgress } from '../../../../src/cli/commands/mcp-client/login-person.ts';
import { testIo } from '../../support/client-commands.ts';

function tell(way: Partial<Parameters<typeof tellProgress>[0]>, place: 'local' | 'ssh') {
  const said: string[] = [];
  const { io } = testIo({ env: { BROWSER: '/nowhere/browser' } });
  const whole = { browser: false, paste: false, device: undefined, ...way };
  return { said, progress: tellProgress(whole, place, (line) => said.push(line), io) };
}

const redirectUri = 'http://127.0.0.1:4711/callback';

describe('a person is told what to do', () => {
  it('the URL, and that it is waited for', async () => {
    const { said, progress } = tell({}, 'local');
    await progress.open('https://as/authorize', redirectUri);
    expect(said).toEqual(['Open this URL: https://as/authorize', 'Waiting for the browser']);
  });

  it('that no browser could be started', async () => {
    const { said, progress } = tell({ browser: true }, 'local');
    await progress.open('https://as/authorize', redirectUri);
    expect(said[1]).toContain('No browser could be started');
  });

  it('over SSH, how a browser elsewhere comes back, and that its address can be pasted (CL-6)', async () => {
    const { said, progress } = tell({ paste: true }, 'ssh');
    await progress.open('https://as/authorize', redirectUri);
    expect(said.slice(1)).toEqual([
      expect.stringContaining('ssh -L 4711:127.0.0.1:4711 '),
      expect.stringContaining('paste the address it ends at here:'),
    ]);
  });

  it('the code for another device (CL-6)', async () => {
    const { said, progress } = tell({}, 'local');
    const { io } = testIo();
    await progress.showCode?.({ userCode: 'AB-CD', url: 'https://as/device', expiresAt: io.now() + 300 });
    expect(said).toEqual([
      'Open this URL on any device: https://as/device',
      'Enter this code there: AB-CD',
      'Waiting for the code to be entered; it is good for 5 min',
    ]);
    await progress.showCode?.({ userCode: 'AB-CD', url: 'https://as/device', expiresAt: io.now() + 2 });
    expect(said.at(-1)).toBe('Waiting for the code to be entered; it is good for 2 s');
  });
});
