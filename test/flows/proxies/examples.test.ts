// The examples of config/proxies, each started as it stands there: certificate, ports and servers replaced.
import { globSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultAnswerMs } from '../../../src/doctor/ask.ts';
import { proxyChecks } from '../../../src/doctor/proxy/proxy-checks.ts';
import { examined } from '../../doctor/support/examine.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { repository } from '../../support/program.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { traefikLeads, tunnelLeads } from './support/declared-routes.ts';
import { forms, readExample } from './support/example-files.ts';
import { type Fronted, prefixes, sitePage, startFronted } from './support/fronted.ts';
import { isProxyInstalled, type ProxyProgram } from './support/proxy-program.ts';

const programs: ProxyProgram[] = ['nginx', 'apache2', 'haproxy', 'caddy'];

/** Paths that lead to Gatehouse where it stands below /tools. */
const ours = [
  '/tools',
  '/tools/',
  '/tools/notes/mcp',
  '/tools/team/files/sse',
  '/tools/authorize',
  '/.well-known/oauth-protected-resource/tools/notes/mcp',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-authorization-server/tools',
  '/.well-known/openid-configuration/tools',
];
/** Paths that stay with the site. */
const theirs = [
  '/',
  '/toolsmith',
  '/mcp',
  '/notes/mcp',
  '/a/tools/notes/mcp',
  '/.well-known/change-password',
];

for (const form of forms)
  describe.each(programs.filter(isProxyInstalled))(`behind %s, by its example for the ${form}`, (program) => {
    let front: Fronted;
    beforeAll(async () => {
      front = await startFronted(program, form);
    });
    afterAll(() => front?.stop());

    it('people log in over TLS with clients of every era, and call the program of each route (C4-06)', async () => {
      const urlOf = (path: string): string => `${front.origin}${front.prefix}${path}/mcp`;
      const v2 = await connectSdkV2(urlOf('/team/files'), { pin: '2026-07-28' }, { scopes: ['mcp'] });
      const v1 = form === 'path' && (await connectSdkV1(urlOf('/notes'), { scopes: ['mcp'] }));
      for (const [{ client }, mark] of [
        ...(v1 ? [[v1, 'of-notes'] as const] : []),
        [v2, 'of-files'] as const,
      ]) {
        const result = await client.callTool({ name: 'surroundings', arguments: {} });
        expect(JSON.stringify(result)).toContain(mark);
        await client.close();
      }
    });

    // Those of a whole host have the doctor in the file of each proxy.
    it.runIf(form === 'path')('gatehouse doctor --proxy finds nothing', async () => {
      const mcpUrl = `${front.origin}${front.prefix}/notes/mcp`;
      const at = { url: front.gatehouse.url, mcpUrl };
      const { tokens } = await obtainTokens(at, { scope: 'mcp', scopes: ['mcp'] });
      const checks = proxyChecks({ idleSeconds: 2, accessToken: async () => tokens.access_token });
      const report = await examined(mcpUrl, checks, { timeoutMs: defaultAnswerMs });
      expect(report.bad()).toEqual([]);
      expect(report.finding('PROXY-IDLE').verdict).toBe('pass');
      expect(report.finding('PROXY-BUFFERING').verdict).toBe('pass');
    });

    it('what a client writes into X-Forwarded-For is taken for nobody’s address (T-109)', async () => {
      const before = front.gatehouse.log.length;
      await fetch(`${front.gatehouse.url}/token`, {
        method: 'POST',
        headers: {
          // The tests stand on this machine, which is trusted: the last address is what a client far away comes from.
          'x-forwarded-for': '198.51.100.77, 203.0.113.66',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'grant_type=refresh_token&client_id=nobody&refresh_token=none',
      });
      const log = front.gatehouse.log.slice(before).join('\n');
      expect(log).toContain('"address":');
      expect(log).not.toContain('198.51.100.77');
    });

    it.runIf(form === 'path')('Gatehouse has its paths, and the site all others', async () => {
      const answers = async (path: string): Promise<string> =>
        (await fetch(`${front.origin}${path}`, { redirect: 'manual' })).text();
      for (const path of ours) expect([path, await answers(path)]).not.toEqual([path, sitePage]);
      for (const path of theirs) expect([path, await answers(path)]).toEqual([path, sitePage]);
    });
  });

describe.each([
  ['Traefik', traefikLeads],
  ['cloudflared', tunnelLeads],
] as const)('the example for %s', (_name, read) => {
  it('leads where those of the other proxies lead', () => {
    const host = read('host');
    for (const path of [...ours, ...theirs]) expect(host('mcp.example.com', path)).toBe('127.0.0.1:3000');
    const path = read('path');
    for (const one of ours) expect([one, path('mcp.example.com', one)]).toEqual([one, '127.0.0.1:3000']);
    for (const one of theirs) expect([one, path('mcp.example.com', one)]).toEqual([one, '127.0.0.1:8000']);
    expect(path('other.example.com', '/tools/notes/mcp')).toBeUndefined();
  });
});

describe('the examples for proxies', () => {
  it('are all there, and each says which public URL it is for', () => {
    const all = ['nginx', 'apache2', 'haproxy', 'caddy', 'traefik', 'cloudflared'] as const;
    expect(globSync('config/proxies/*/*', { cwd: repository })).toHaveLength(all.length * forms.length);
    for (const program of all)
      for (const form of forms)
        expect(readExample(program, form)).toContain(`https://mcp.example.com${prefixes[form]}/notes/mcp`);
  });

  it('switch nothing off that Gatehouse brings about by itself: no buffering, no time limit of a stream', () => {
    for (const program of programs)
      for (const form of forms)
        expect(readExample(program, form)).not.toMatch(
          /buffering (on|off)|flush_interval|read_timeout|ProxyTimeout/,
        );
  });
});
