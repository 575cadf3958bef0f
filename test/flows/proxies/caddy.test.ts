import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Behind, hintOf, startBehind } from './support/behind.ts';
import { configuration, type Lines } from './support/configurations.ts';
import { isProxyInstalled } from './support/proxy-program.ts';

interface Mistake {
  what: string;
  lines: Lines;
  id: string;
  /** Where the hint goes; absent where it says what to remove. */
  at?: keyof Lines;
}

const mistakes: Mistake[] = [
  {
    what: 'takes small requests only',
    lines: { beside: 'request_body {\n\tmax_size 1MB\n}' },
    id: 'PROXY-BODY-SIZE',
    at: 'beside',
  },
  { what: 'drops Authorization', lines: { within: 'header_up -Authorization' }, id: 'PROXY-AUTHORIZATION' },
  { what: 'drops Mcp-Session-Id', lines: { within: 'header_down -Mcp-Session-Id' }, id: 'PROXY-SESSION-ID' },
  {
    what: 'drops WWW-Authenticate',
    lines: { within: 'header_down -WWW-Authenticate' },
    id: 'PROXY-WWW-AUTHENTICATE',
  },
  {
    what: 'cuts silent streams',
    lines: { within: 'transport http {\n\tread_timeout 1s\n}' },
    id: 'PROXY-IDLE',
    at: 'within',
  },
  {
    what: 'takes short headers only',
    lines: { around: 'servers {\n\tmax_header_size 2KB\n}' },
    id: 'PROXY-HEADER-SIZE',
    at: 'around',
  },
];

describe.skipIf(!isProxyInstalled('caddy'))('a Caddy', () => {
  let behind: Behind;
  beforeAll(async () => {
    behind = await startBehind();
  });
  afterAll(() => behind?.stop());

  it.each(mistakes)('that $what is found, and mended as the hint says', async ({ lines, id, at }) => {
    const only = [id];
    const before = await behind.through('caddy', configuration('caddy', lines), { only });
    const found = before.finding(id);
    expect(['fail', 'warn']).toContain(found.verdict);
    const hint = hintOf(found, 'caddy');
    const mended = at === undefined ? {} : { [at]: hint };
    const after = await behind.through('caddy', configuration('caddy', mended), { only });
    expect(after.finding(id)).toMatchObject({ verdict: 'pass' });
  });

  it('with handle_path strips the prefix, and is mended by handle', async () => {
    const instead = 'handle_path /tools/* {\n\treverse_proxy 127.0.0.1:8080\n}\nreverse_proxy 127.0.0.1:8080';
    const only = ['PROXY-PREFIX'];
    const report = await behind.through('caddy', configuration('caddy', { instead }), {
      only,
      path: '/tools/mcp',
    });
    expect(report.finding('PROXY-PREFIX')).toMatchObject({ verdict: 'fail' });
    expect(hintOf(report.finding('PROXY-PREFIX'), 'caddy')).toContain('handle /tools/mcp* {');
  });
});

describe.skipIf(!isProxyInstalled('caddy'))('a Caddy with the server under /tools', () => {
  let behind: Behind;
  beforeAll(async () => {
    behind = await startBehind('/tools');
  });
  afterAll(() => behind?.stop());

  it('that keeps the well-known places to itself is found, and mended by the lines of the hint', async () => {
    const place = 'handle /tools/* {\n\treverse_proxy 127.0.0.1:8080\n}';
    const site = 'handle {\n\theader Content-Type text/html\n\trespond "<html>our site</html>" 200\n}';
    const only = ['PROXY-WELL-KNOWN', 'PROXY-ERROR-PAGE'];
    const before = await behind.through('caddy', configuration('caddy', { instead: `${place}\n${site}` }), {
      only,
    });
    expect(before.bad()).toEqual(['fail PROXY-ERROR-PAGE', 'fail PROXY-WELL-KNOWN']);
    const instead = `${place}\n${hintOf(before.finding('PROXY-WELL-KNOWN'), 'caddy')}\n${site}`;
    const after = await behind.through('caddy', configuration('caddy', { instead }), { only });
    expect(after.bad()).toEqual([]);
  });
});
