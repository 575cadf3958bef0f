// The examples of config/proxies, made worse: what gatehouse doctor --proxy says then of a route with a program.
import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultAnswerMs } from '../../../src/doctor/ask.ts';
import { proxyChecks } from '../../../src/doctor/proxy/proxy-checks.ts';
import { examined } from '../../doctor/support/examine.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { startFronted } from './support/fronted.ts';
import { isProxyInstalled, type ProxyProgram } from './support/proxy-program.ts';

const before = (found: RegExp, lines: string) => (text: string) =>
  text.replace(found, (place) => `${lines}\n${place}`);
const inNginx = (lines: string) => before(/ {2}client_max_body_size/, lines);
const inApache = (lines: string) => before(/ {2}ProxyPreserveHost/, lines);

/** Has what is below /tools arrive at a path of the server. */
const toTools = (path: string) => (text: string) =>
  text.replace(/( \/tools\/ +\{ proxy_pass http:\/\/[^;/]+);/, `$1${path};`);

const spoiled: [string, ProxyProgram, (text: string) => string, string][] = [
  [
    'buffers, and ignores what Gatehouse asks',
    'nginx',
    (text) =>
      inNginx('proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;')(text).replaceAll(
        'proxy_http_version 1.1',
        'proxy_http_version 1.0',
      ),
    'PROXY-BUFFERING',
  ],
  [
    'compresses event streams',
    'nginx',
    inNginx('gzip_proxied any; gzip_min_length 1; gzip_types text/event-stream;'),
    'PROXY-COMPRESSION',
  ],
  [
    'compresses event streams',
    'apache2',
    inApache('AddOutputFilterByType DEFLATE text/event-stream'),
    'PROXY-COMPRESSION',
  ],
  [
    'keeps the metadata at the origin to the site',
    'nginx',
    (text) => text.replaceAll(/^.*\/\.well-known\/\S+ +\{.*\n/gm, ''),
    'PROXY-WELL-KNOWN',
  ],
  ['cuts the prefix off', 'nginx', toTools('/'), 'PROXY-PREFIX'],
  ['puts the prefix before it twice', 'nginx', toTools('/tools/tools/'), 'PROXY-PREFIX'],
  ['forgets the prefix', 'nginx', (text) => text.replace(/^.* \/tools\/ .*$/m, ''), 'PROXY-PREFIX'],
];

describe('gatehouse doctor --proxy finds an example', () => {
  it.each(spoiled.filter(([, program]) => isProxyInstalled(program)))(
    'that %s: %s',
    async (_what, program, change, id) => {
      const front = await startFronted(program, 'path', change);
      onTestFinished(() => front.stop());
      const mcpUrl = `${front.origin}/tools/notes/mcp`;
      // Where the paths are wrong, nobody gets as far as a login.
      const needsLogin = ['PROXY-BUFFERING', 'PROXY-COMPRESSION'].includes(id);
      const login = async (): Promise<string> => {
        const at = { url: front.gatehouse.url, mcpUrl };
        return (await obtainTokens(at, { scope: 'mcp', scopes: ['mcp'] })).tokens.access_token;
      };
      const checks = proxyChecks({ idleSeconds: 1, ...(needsLogin ? { accessToken: login } : {}) });
      const report = await examined(mcpUrl, checks, { only: [id], timeoutMs: defaultAnswerMs });
      expect(report.finding(id)).toMatchObject({ verdict: expect.stringMatching(/^(fail|warn)$/) });
    },
  );
});
