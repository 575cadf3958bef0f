import { describe, expect, it } from 'vitest';
import { addresses, connections } from '../../../src/doctor/reach/network.ts';
import { startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

describe('the network', () => {
  it('has the addresses of a host, of both families', async () => {
    expect((await addresses(subjectOf('http://localhost:1/'))).ipv4).toContain('127.0.0.1');
    expect(await addresses(subjectOf('http://127.0.0.1/'))).toEqual({ ipv4: ['127.0.0.1'], ipv6: [] });
    expect(await addresses(subjectOf('http://[::1]/'))).toEqual({ ipv4: [], ipv6: ['::1'] });
  });

  it('says why a host has none', async () => {
    const { failure } = await addresses(subjectOf('https://no-such-host.invalid/'));
    expect(failure).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it('is tried for each address apart', async () => {
    const server = await startServer();
    expect(await connections(subjectOf(server.url))).toEqual({
      ipv4: [{ address: '127.0.0.1', durationMs: expect.any(Number) }],
      ipv6: [],
    });
    expect((await connections(subjectOf('http://127.0.0.1:1024/'))).ipv4).toEqual([
      { address: '127.0.0.1', failure: 'ECONNREFUSED' },
    ]);
  });
});
