import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Behind, hintOf, startBehind } from './support/behind.ts';
import { configuration, type Lines } from './support/configurations.ts';
import { isProxyInstalled } from './support/proxy-program.ts';

/** One mistake, the check that finds it, and where the lines of its hint belong. */
interface Mistake {
  what: string;
  lines: Lines;
  id: string;
  verdict: 'fail' | 'warn';
  saw: string;
  /** Lines instead of the sound ones. */
  base?: string;
  /** Where the hint goes. */
  at: keyof Lines;
  /** What stays of the mistake: all but the lines that the hint replaces, unless told. */
  kept?: Lines;
}

const ownPages = `proxy_intercept_errors on;
  error_page 401 @page;
  location @page { default_type text/html; return 401 "<html>Please log in</html>"; }`;

const mistakes: Mistake[] = [
  {
    what: 'buffers event streams',
    lines: { within: 'proxy_ignore_headers X-Accel-Buffering;' },
    // With HTTP/1.1 to the server, this nginx passes each chunk on at once; HTTP/1.0 is its default.
    base: 'proxy_set_header Host $http_host;',
    id: 'PROXY-BUFFERING',
    verdict: 'fail',
    saw: 'not even its head',
    at: 'within',
    kept: { within: 'proxy_ignore_headers X-Accel-Buffering;' },
  },
  {
    what: 'compresses event streams',
    lines: { beside: 'gzip on; gzip_proxied any; gzip_min_length 1; gzip_types text/event-stream;' },
    id: 'PROXY-COMPRESSION',
    verdict: 'warn',
    saw: 'Content-Encoding: gzip',
    at: 'within',
    kept: { beside: 'gzip on; gzip_proxied any; gzip_min_length 1; gzip_types text/event-stream;' },
  },
  {
    what: 'cuts silent streams',
    lines: { beside: 'proxy_read_timeout 1s;' },
    id: 'PROXY-IDLE',
    verdict: 'fail',
    saw: 'of silence',
    at: 'within',
    kept: { beside: 'proxy_read_timeout 1s;' },
  },
  {
    what: 'drops Authorization',
    lines: { within: 'proxy_set_header Authorization "";' },
    id: 'PROXY-AUTHORIZATION',
    verdict: 'fail',
    saw: 'as if there were none',
    at: 'within',
  },
  {
    what: 'drops Mcp-Session-Id of requests',
    lines: { within: 'proxy_set_header Mcp-Session-Id "";' },
    id: 'PROXY-SESSION-ID',
    verdict: 'fail',
    saw: 'the next request in it was refused',
    at: 'within',
  },
  {
    what: 'drops Mcp-Session-Id of answers',
    lines: { within: 'proxy_hide_header Mcp-Session-Id;' },
    id: 'PROXY-SESSION-ID',
    verdict: 'fail',
    saw: 'initialize brought no Mcp-Session-Id',
    at: 'within',
  },
  {
    what: 'drops MCP-Protocol-Version',
    lines: { within: 'proxy_set_header MCP-Protocol-Version "";' },
    id: 'PROXY-PROTOCOL-VERSION',
    verdict: 'warn',
    saw: 'not 400',
    at: 'within',
  },
  {
    what: 'changes Accept',
    lines: { within: 'proxy_set_header Accept "text/html";' },
    id: 'PROXY-ACCEPT',
    verdict: 'fail',
    saw: '406',
    at: 'within',
  },
  {
    what: 'drops WWW-Authenticate',
    lines: { within: 'proxy_hide_header WWW-Authenticate;' },
    id: 'PROXY-WWW-AUTHENTICATE',
    verdict: 'fail',
    saw: 'The 401 came without it',
    at: 'within',
  },
  {
    what: 'shows pages of its own for errors',
    lines: { beside: ownPages },
    id: 'PROXY-ERROR-PAGE',
    verdict: 'fail',
    saw: 'a page',
    at: 'within',
    kept: { beside: ownPages },
  },
  {
    what: 'redirects /mcp to /mcp/',
    lines: {
      beside: 'location /mcp/ { proxy_pass http://127.0.0.1:8080; proxy_set_header Host $http_host; }',
    },
    id: 'PROXY-REDIRECT',
    verdict: 'fail',
    saw: '(301)',
    at: 'beside',
    kept: {
      beside: 'location /mcp/ { proxy_pass http://127.0.0.1:8080; proxy_set_header Host $http_host; }',
    },
  },
  {
    what: 'takes short headers only',
    lines: { beside: 'large_client_header_buffers 4 4k;' },
    id: 'PROXY-HEADER-SIZE',
    verdict: 'warn',
    saw: '8000 bytes is refused with status 400',
    at: 'beside',
  },
  {
    what: 'takes very short headers only',
    lines: { beside: 'large_client_header_buffers 4 2k;' },
    id: 'PROXY-HEADER-SIZE',
    verdict: 'fail',
    saw: '4000 bytes',
    at: 'beside',
  },
  {
    what: 'takes small requests only, as it does by default',
    lines: {},
    id: 'PROXY-BODY-SIZE',
    verdict: 'warn',
    saw: '413',
    at: 'within',
  },
  {
    what: 'caches refusals',
    lines: {
      around: 'proxy_cache_path FOLDER/cache keys_zone=zone:1m;',
      beside:
        'proxy_cache zone; proxy_cache_valid any 1m; proxy_ignore_headers Cache-Control Vary Set-Cookie Expires;',
    },
    id: 'PROXY-CACHING',
    verdict: 'fail',
    saw: 'a cache gave it',
    at: 'within',
    kept: {
      around: 'proxy_cache_path FOLDER/cache keys_zone=zone:1m;',
      beside:
        'proxy_cache zone; proxy_cache_valid any 1m; proxy_ignore_headers Cache-Control Vary Set-Cookie Expires;',
    },
  },
];

describe.skipIf(!isProxyInstalled('nginx'))('an nginx', () => {
  let behind: Behind;
  beforeAll(async () => {
    behind = await startBehind();
  });
  afterAll(() => behind?.stop());

  it.each(mistakes)('that $what is found, and mended by the lines of the hint', async (mistake) => {
    const { lines, base, id, verdict, saw, at, kept = {} } = mistake;
    const only = [id];
    const before = (await behind.through('nginx', configuration('nginx', lines, base), { only })).finding(id);
    expect(before).toMatchObject({ verdict, saw: expect.stringContaining(saw) });
    const mended = { ...kept, [at]: `${kept[at] ?? ''}\n${hintOf(before, 'nginx')}` };
    const after = await behind.through('nginx', configuration('nginx', mended, base), { only });
    expect(after.finding(id)).toMatchObject({ verdict: 'pass' });
  });

  it('whose server is down is said not to reach it', async () => {
    const lines = { instead: 'location / { proxy_pass http://127.0.0.1:1; }' };
    const report = await behind.through('nginx', configuration('nginx', lines), {
      only: ['PROXY-ERROR-PAGE'],
    });
    expect(report.finding('PROXY-ERROR-PAGE')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('does not reach the server'),
    });
  });

  it('that drops Last-Event-ID cannot be told from a server without events, and is not called sound', async () => {
    const lines = { within: 'proxy_set_header Last-Event-ID "";' };
    const only = ['PROXY-LAST-EVENT-ID'];
    const report = await behind.through('nginx', configuration('nginx', lines), { only });
    expect(report.finding('PROXY-LAST-EVENT-ID')).toMatchObject({ verdict: 'unknown' });
  });

  it('that drops Authorization is suspected without a login too', async () => {
    const lines = { within: 'proxy_set_header Authorization "";' };
    const only = ['PROXY-AUTHORIZATION', 'PROXY-BUFFERING'];
    const report = await behind.through('nginx', configuration('nginx', lines), { only, login: false });
    expect(report.finding('PROXY-AUTHORIZATION')).toMatchObject({ verdict: 'warn' });
    expect(report.finding('PROXY-BUFFERING')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('login'),
    });
  });

  it('that strips the prefix of the path is found', async () => {
    const lines = { beside: 'location /tools/ { proxy_pass http://127.0.0.1:8080/; }' };
    const report = await behind.through('nginx', configuration('nginx', lines), {
      only: ['PROXY-PREFIX'],
      path: '/tools/mcp',
    });
    const found = report.finding('PROXY-PREFIX');
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('/tools is lost') });
    expect(hintOf(found, 'nginx')).toContain('location /tools/mcp {\n  proxy_pass http://127.0.0.1:8080;');
  });
});

describe.skipIf(!isProxyInstalled('nginx'))('an nginx with the server under /tools', () => {
  const place = 'location /tools { proxy_pass http://127.0.0.1:8080; proxy_set_header Host $http_host; }';
  let behind: Behind;
  beforeAll(async () => {
    behind = await startBehind('/tools');
  });
  afterAll(() => behind?.stop());

  it('that keeps the well-known places to itself is found, and mended by the lines of the hint', async () => {
    const only = ['PROXY-WELL-KNOWN', 'PROXY-PREFIX'];
    const before = await behind.through('nginx', configuration('nginx', { instead: place }), { only });
    const found = before.finding('PROXY-WELL-KNOWN');
    expect(found).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('/.well-known/oauth-protected-resource/tools/mcp'),
    });
    const instead = `${place}\n${hintOf(found, 'nginx')}`;
    const after = await behind.through('nginx', configuration('nginx', { instead }), { only });
    expect(after.bad()).toEqual([]);
    expect(after.finding('PROXY-WELL-KNOWN').verdict).toBe('pass');
  });

  it('that publishes it without the prefix is found, and mended by the lines of the hint', async () => {
    const only = ['PROXY-PREFIX'];
    const bare = 'location / { proxy_pass http://127.0.0.1:8080; proxy_set_header Host $http_host; }';
    const before = await behind.through('nginx', configuration('nginx', { instead: bare }), {
      only,
      path: '/mcp',
    });
    const found = before.finding('PROXY-PREFIX');
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('publishes it without') });
    const instead = `${bare}\n${hintOf(found, 'nginx')}`;
    const after = await behind.through('nginx', configuration('nginx', { instead }), { only });
    expect(after.finding('PROXY-PREFIX').verdict).toBe('pass');
  });
});
