import { describe, expect, it } from 'vitest';
import { doctorLogin } from '../../../../src/cli/commands/doctor/login.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

const nobody = { CI: '1', BROWSER: 'none' };

describe('the means of a login in an examination', () => {
  it('are the kept logins to look at, and nobody to ask unless --active says so', async () => {
    const { io, mcp } = await startLoggedIn();
    const means = doctorLogin({}, io, () => undefined);
    expect((await means.kept?.findCredential(mcp.url))?.accessToken).toBe('at');
    expect(means.withAgent).toBeUndefined();
  });

  it('are without a user where there is none, so that nobody is waited for', () => {
    expect(
      doctorLogin({ active: true }, testIo({ env: nobody }).io, () => undefined).withAgent,
    ).toBeUndefined();
  });

  it('take the user to the URL, and bring the answer back by loopback', async () => {
    const said: string[] = [];
    const means = doctorLogin({ active: true, browser: false }, testIo({ env: nobody }).io, (line) =>
      said.push(line),
    );
    const query = await means.withAgent?.(async (agent) => {
      const received = agent.receive({ url: 'http://127.0.0.1:1024/authorize?x=1', state: 's' });
      await expect
        .poll(() => said.join('\n'))
        .toContain('Open this URL: http://127.0.0.1:1024/authorize?x=1');
      await fetch(`${agent.redirectUri}?code=c&state=s`);
      return received;
    });
    expect(query?.get('code')).toBe('c');
  });

  it('are the client, its document and its name as they were given', () => {
    const options = {
      clientId: 'me',
      clientMetadataUrl: 'https://me.example/client.json',
      clientName: 'Me',
      otherResource: 'https://other.example/mcp',
    };
    expect(doctorLogin(options, testIo().io, () => undefined)).toMatchObject({
      given: { clientId: 'me' },
      clientIdMetadataUrl: 'https://me.example/client.json',
      clientName: 'Me',
      otherResource: 'https://other.example/mcp',
    });
  });
});
