import { describe, expect, it } from 'vitest';
import { resolveHost } from '../../src/net/resolve.ts';

const { signal } = new AbortController();

describe('resolving a host', () => {
  it('that is an address asks nobody', async () => {
    expect(await resolveHost('127.0.0.1', signal)).toEqual(['127.0.0.1']);
    expect(await resolveHost('::1', signal)).toEqual(['::1']);
  });

  it.each(['localhost', 'app.localhost'])(
    'gives %s the loopback addresses (RFC 6761 section 6.3)',
    async (host) => {
      expect(await resolveHost(host, signal)).toEqual(['127.0.0.1', '::1']);
    },
  );

  it('that nobody has gives nothing', async () => {
    expect(await resolveHost('no-such-host.invalid', AbortSignal.timeout(1_000))).toEqual([]);
  });
});
