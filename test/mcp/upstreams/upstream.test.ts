import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { upstream } from '../../../src/mcp/index.ts';
import type { ServerSource } from '../../../src/mcp/protocol.ts';
import { createLocalEndpoint } from '../../../src/mcp/stdio/endpoint.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { initialize, modern } from '../stdio/connected-host.ts';
import { type Gate, readAnswer, startGate } from '../support/gate.ts';
import { call } from '../support/served-transport.ts';
import { createTestAccess, sources } from './support.ts';

const who = { name: 'who', arguments: {} };

/** Every way to call without a client that can open URLs: the text of the answer. */
const ways: Record<string, (gate: Gate, token: string) => Promise<unknown>> = {
  async 'a session'(gate, token) {
    const session = await gate.initialize(token);
    return (await gate.call(token, session, 'tools/call', who)).result;
  },
  'the revision 2026-07-28': async (gate, token) =>
    (await readAnswer(await gate.callModern(token, 'tools/call', who))).result,
  async 'the Rest transport'(gate, token) {
    const response = await fetch(gate.url.replace('/mcp', '/rest'), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: who }),
    });
    return (await readAnswer(response)).result;
  },
};

describe.each(Object.keys(sources))('a tool of %s', (name) => {
  const start = (access: ReturnType<typeof createTestAccess>['access'], more: object = {}): Promise<Gate> =>
    startGate({ source: sources[name]?.(), scopeRules: {}, upstreams: access, ...more } as never);

  it.each(Object.keys(ways))('asks the upstream as whoever sent this very message: %s', async (way) => {
    const people = Array.from({ length: 20 }, (_, at) => `person-${at}`);
    const { access } = createTestAccess(people);
    const gate = await start(access);
    const tokens = people.map((person) => gate.issue(person));
    const answers = await Promise.all(
      [...tokens, ...tokens, ...tokens].map((token) => ways[way]?.(gate, token)),
    );
    expect(answers).toEqual(
      [...people, ...people, ...people].map((person) =>
        expect.objectContaining({ content: [{ type: 'text', text: person }] }),
      ),
    );
  });

  it('asks as its caller where each request stands alone', async () => {
    const { access, calls } = createTestAccess(['ann']);
    const gate = await start(access, { sessions: 'none' });
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: who };
    const answer = await readAnswer(await gate.send(gate.issue('ann'), { json }));
    expect(answer.result).toMatchObject({ content: [{ text: 'ann' }] });
    expect(calls[0]).toMatchObject({ upstream: 'work', scopes: ['files:read'], patienceMs: 0 });
  });

  it.each(Object.keys(ways))('says where to link, to a client that cannot open URLs: %s', async (way) => {
    const { access } = createTestAccess();
    const gate = await start(access);
    expect(await ways[way]?.(gate, gate.issue('ann'))).toMatchObject({
      isError: true,
      content: [
        { text: expect.stringMatching('Open https://gate.example/account/upstreams/work/link in a browser') },
      ],
    });
  });

  it('has the signal of its call, which ends the request to the API with it', async () => {
    const { access, calls } = createTestAccess(['ann']);
    const gate = await start(access);
    await ways['a session']?.(gate, gate.issue('ann'));
    expect(calls[0]?.signal).toBeInstanceOf(AbortSignal);
  });
});

describe('upstream()', () => {
  it('says that there is none where the settings have none', async () => {
    const gate = await startGate({ source: sources['a v2 server each']?.(), scopeRules: {} } as never);
    expect(await ways['a session']?.(gate, gate.issue('ann'))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching('The upstream work cannot be asked here') }],
    });
  });

  it.each([
    ['up to 2025-11-25', [initialize(), call(1, 'who')]],
    ['of 2026-07-28', [modern(1, 'tools/call', who)]],
  ])('says that there is none over stdio, where nobody logs in: %s', async (_era, messages) => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const endpoint = createLocalEndpoint({
      source: sources['a shared v2 server']?.() as ServerSource,
      account: { id: 'acct_1', scopes: [] },
      issuer: 'https://a.example',
      resource: 'https://a.example/mcp',
      stdin,
      stdout,
      logger: createLogger('silent'),
    });
    const written = text(stdout);
    stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    await endpoint.ended;
    stdout.end();
    expect(await written).toContain('the call came over standard input, where nobody logs in');
  });

  it('is asked for in vain where nobody was identified', () => {
    expect(() => upstream({}, 'work')).toThrow('Nobody was identified for this call');
  });
});
