import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { createBackends } from '../../../src/mcp/modern/backends.ts';
import type { Backend, McpLike, ServerSource } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { callBackend, createCaller } from '../support/modern-calls.ts';
import { createTestServer } from '../support/modern-endpoint.ts';

/** Stands where older servers are served, and says so. */
const older: Backend = {
  checksEnvelope: 'nothing',
  begin({ answer }) {
    answer({ status: 200, result: { isOlder: true } });
    return () => {};
  },
  notify() {},
  discover: async () => ({ capabilities: {}, serverInfo: undefined }),
  close: async () => {},
};

function start(
  sharing: ServerSource['sharing'],
  make: () => McpLike,
  more: Partial<Pick<ServerSource, 'modern'>> = {},
) {
  const create = vi.fn(make);
  const lines: string[] = [];
  const backends = createBackends({
    source: { sharing, create, ...more },
    url: new URL('https://mcp.example/mcp'),
    gate: { check: async () => undefined },
    check: async () => undefined,
    publish: () => {},
    older,
    logger: createLogger('warn', (line) => lines.push(line)),
  });
  return { backends, create, lines };
}

const listed = () => createTestServer(() => {});
const unlisted = () => new McpServer({ name: 'unlisted', version: '1.0.0' });
const olderServer = () => new ServerV1({ name: 'v1', version: '1.0.0' }) as unknown as McpLike;

describe('what answers requests of 2026-07-28', () => {
  it('is one server for all where a shared server lists the revision', async () => {
    const { backends, create, lines } = start('shared', listed);
    for (let time = 0; time < 3; time++)
      expect(
        (await callBackend(await backends.current(createCaller()), 'server/discover')).answer.status,
      ).toBe(200);
    expect(create.mock.calls).toEqual([[{ era: 'modern' }]]);
    expect(lines).toEqual([]);
    await backends.close();
  });

  it('is a server each where a shared one does not list it, and the log says how to be faster, once', async () => {
    const { backends, create, lines } = start('shared', unlisted);
    for (let time = 0; time < 3; time++)
      expect(
        (await callBackend(await backends.current(createCaller()), 'server/discover')).answer.status,
      ).toBe(200);
    expect(create).toHaveBeenCalledTimes(4);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('supportedProtocolVersions');
    await backends.close();
  });

  it('is a server each, made for its caller, where they are not shared', async () => {
    const { backends, create } = start('each', listed);
    await callBackend(await backends.current(createCaller()), 'server/discover');
    await callBackend(await backends.current(createCaller()), 'server/discover');
    expect(create).toHaveBeenCalledTimes(2);
    expect(create.mock.calls[0]).toMatchObject([{ era: 'modern', authInfo: { subject: 'ann' } }]);
    await backends.close();
  });

  it.each([
    ['single', listed],
    ['shared', olderServer],
    ['each', olderServer],
  ] as const)('is what serves older ones for a %s server that is older (B5-15)', async (sharing, make) => {
    const { backends, create } = start(sharing, make);
    for (let time = 0; time < 2; time++) {
      const { answer } = await callBackend(await backends.current(createCaller()), 'server/discover');
      expect(answer.result).toEqual({ isOlder: true });
    }
    expect(create.mock.calls.length).toBeLessThanOrEqual(1);
    await backends.close();
  });

  it('is made again when it ended, or could not be made', async () => {
    const made: McpLike[] = [];
    let isBroken = true;
    const { backends } = start('shared', () => {
      if (isBroken) throw new Error('no database');
      made.push(listed());
      return made.at(-1) as McpLike;
    });
    await expect(backends.current(createCaller())).rejects.toThrow('no database');
    isBroken = false;
    await backends.current(createCaller());
    await made[0]?.close();
    expect((await callBackend(await backends.current(createCaller()), 'server/discover')).answer.status).toBe(
      200,
    );
    expect(made).toHaveLength(2);
    await backends.close();
  });

  it('is what the source brings for the caller, as long as it brings something', async () => {
    const brought: Backend = { ...older, checksEnvelope: 'all' };
    const asked: unknown[] = [];
    const { backends, create } = start('principal', olderServer, {
      modern: async ({ authInfo }) => {
        asked.push(authInfo.subject);
        return authInfo.subject === 'bob' ? brought : undefined;
      },
    });
    expect(await backends.current(createCaller('bob'))).toBe(brought);
    expect(await backends.current(createCaller('ann'))).toBe(older);
    expect(await backends.current(createCaller('bob'))).toBe(brought);
    expect(asked).toEqual(['bob', 'ann', 'bob']);
    expect(create).not.toHaveBeenCalled();
    await backends.close();
  });

  it('is stood for where it takes long to know, and handed the request then; who listens waits', async () => {
    const { promise, resolve } = Promise.withResolvers<Backend>();
    const { backends } = start('principal', listed, { modern: () => promise });
    const found = backends.current(createCaller());
    const standing = await backends.currentSoon(createCaller());
    expect(standing).not.toBe(older);
    const answering = callBackend(standing, 'tools/list');
    resolve(older);
    expect((await answering).answer.result).toEqual({ isOlder: true });
    expect([await found, await backends.currentSoon(createCaller())]).toEqual([older, older]);
  });

  it('is not stood for where it fails soon', async () => {
    const failing = start('principal', listed, { modern: () => Promise.reject(new Error('no database')) });
    await expect(failing.backends.currentSoon(createCaller())).rejects.toThrow('no database');
  });
});
