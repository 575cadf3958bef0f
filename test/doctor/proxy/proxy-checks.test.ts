import { describe, expect, it } from 'vitest';
import { proxyChecks } from '../../../src/doctor/proxy/proxy-checks.ts';
import { examined } from '../support/examine.ts';
import { startServer } from '../support/server.ts';
import { openMcp } from './open-server.ts';

describe('checks of the way', () => {
  it('have ids of their own that begin with PROXY-, the one that waits before the one that disturbs the stream', () => {
    const checks = proxyChecks();
    const ids = checks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^PROXY-[A-Z-]+$/.test(id))).toEqual([]);
    expect(checks.at(-2)).toMatchObject({
      id: 'PROXY-IDLE',
      title: 'A stream stays open for 75 s',
      patienceMs: 105_000,
    });
  });

  it('find nothing at a sound server without a proxy, with a login or without', async () => {
    const closed = await startServer();
    expect((await examined(closed.url, proxyChecks({ idleSeconds: 1 }))).bad()).toEqual([]);
    const open = await startServer({ fault: openMcp() });
    expect((await examined(open.url, proxyChecks({ idleSeconds: 1 }))).bad()).toEqual([]);
  });

  it('say unknown of a server that does not answer, never pass', async () => {
    const { findings } = await examined('http://127.0.0.1:1/mcp', proxyChecks({ idleSeconds: 1 }), {});
    const passed = findings.filter(({ verdict, id }) => verdict === 'pass' && id !== 'PROXY-PRODUCT');
    expect(passed).toEqual([]);
  });
});
