import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Behind, hintOf, startBehind } from './support/behind.ts';
import { configuration } from './support/configurations.ts';
import { isProxyInstalled } from './support/proxy-program.ts';

/** What it does wrong, the lines that make it so, the check that finds it; the hint's lines come behind the mistake. */
const mistakes = [
  ['compresses event streams', 'SetOutputFilter DEFLATE', 'PROXY-COMPRESSION', 'Content-Encoding: gzip'],
  ['cuts silent streams', 'ProxyTimeout 1', 'PROXY-IDLE', 'of silence'],
  ['takes short headers only', 'LimitRequestFieldSize 4050', 'PROXY-HEADER-SIZE', '8000 bytes'],
  ['shows pages of its own for errors', 'ProxyErrorOverride On', 'PROXY-ERROR-PAGE', 'a page'],
] as const;

/** The same, where the hint says what to remove. */
const removals = [
  ['drops Authorization', 'RequestHeader unset Authorization', 'PROXY-AUTHORIZATION'],
  ['drops Mcp-Session-Id of answers', 'Header unset Mcp-Session-Id', 'PROXY-SESSION-ID'],
  ['drops WWW-Authenticate', 'Header unset WWW-Authenticate', 'PROXY-WWW-AUTHENTICATE'],
] as const;

describe.skipIf(!isProxyInstalled('apache2'))('an Apache httpd', () => {
  let behind: Behind;
  beforeAll(async () => {
    behind = await startBehind();
  });
  afterAll(() => behind?.stop());

  it.each(mistakes)(
    'that %s is found, and mended by the lines of the hint',
    async (_what, within, id, saw) => {
      const only = [id];
      const before = await behind.through('apache2', configuration('apache2', { within }), { only });
      const found = before.finding(id);
      expect(['fail', 'warn']).toContain(found.verdict);
      expect(found.saw).toContain(saw);
      const mended = { within: `${within}\n${hintOf(found, 'apache')}` };
      const after = await behind.through('apache2', configuration('apache2', mended), { only });
      expect(after.finding(id)).toMatchObject({ verdict: 'pass' });
    },
  );

  it.each(removals)('that %s is found, and the hint names the line to remove', async (_what, within, id) => {
    const only = [id];
    const before = await behind.through('apache2', configuration('apache2', { within }), { only });
    const found = before.finding(id);
    expect(found.verdict).toBe('fail');
    expect(hintOf(found, 'apache')).toContain(within);
    const after = await behind.through('apache2', configuration('apache2'), { only });
    expect(after.finding(id)).toMatchObject({ verdict: 'pass' });
  });
});
