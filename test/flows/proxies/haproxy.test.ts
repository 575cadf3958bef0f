import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Behind, startBehind } from './support/behind.ts';
import { configuration, type Lines } from './support/configurations.ts';
import { isProxyInstalled } from './support/proxy-program.ts';

const mistakes: [string, Lines, string, string][] = [
  ['drops Authorization', { beside: 'http-request del-header authorization' }, 'PROXY-AUTHORIZATION', 'fail'],
  ['drops Mcp-Session-Id', { beside: 'http-request del-header mcp-session-id' }, 'PROXY-SESSION-ID', 'fail'],
  [
    'drops WWW-Authenticate',
    { beside: 'http-response del-header www-authenticate' },
    'PROXY-WWW-AUTHENTICATE',
    'fail',
  ],
  [
    'drops MCP-Protocol-Version',
    { beside: 'http-request del-header mcp-protocol-version' },
    'PROXY-PROTOCOL-VERSION',
    'warn',
  ],
  ['cuts silent streams', { within: 'timeout server 1s' }, 'PROXY-IDLE', 'fail'],
  ['takes short headers only', { around: 'tune.bufsize 6144' }, 'PROXY-HEADER-SIZE', 'warn'],
];

describe.skipIf(!isProxyInstalled('haproxy'))('an HAProxy', () => {
  let behind: Behind;
  beforeAll(async () => {
    behind = await startBehind();
  });
  afterAll(() => behind?.stop());

  it.each(mistakes)('that %s is found, and what to change is said', async (_what, lines, id, verdict) => {
    const only = [id];
    const before = await behind.through('haproxy', configuration('haproxy', lines), { only });
    expect(before.finding(id)).toMatchObject({ verdict, fix: expect.any(String) });
    const after = await behind.through('haproxy', configuration('haproxy'), { only });
    expect(after.finding(id)).toMatchObject({ verdict: 'pass' });
  });

  it('gives itself away by its page, when its server is down', async () => {
    const only = ['PROXY-PRODUCT', 'PROXY-ERROR-PAGE'];
    const report = await behind.through(
      'haproxy',
      (ports, folder) => configuration('haproxy', { within: 'retries 0' })({ ...ports, upstream: 1 }, folder),
      { only },
    );
    expect(report.finding('PROXY-PRODUCT').saw).toContain('HAProxy');
    expect(report.finding('PROXY-ERROR-PAGE')).toMatchObject({ verdict: 'fail' });
  });
});
