import { describe, expect, it } from 'vitest';
import { SteppedRequest } from '../../../src/gateway/steps/chain.ts';
import type { Step } from '../../../src/gateway/steps/step.ts';
import { type Found, ToolDefinitions, withAbsence } from '../../../src/gateway/steps/tool-definitions.ts';
import type { RequestMessage } from '../../../src/mcp/protocol.ts';
import { withMissingInput, withPatience } from '../../../src/mcp/upstreams/upstream.ts';
import { callerNamed } from '../../mcp/sdk/support/talk.ts';
import { stepped } from './support/stepped.ts';

const found = ({ tool, error }: Found) => (error ? error.message : (tool ?? null));

function start(list: (request: RequestMessage) => object) {
  const clock = { ms: 0 };
  const definitions = new ToolDefinitions(() => clock.ms);
  const step: Step = {
    cares: (method) => method === 'tools/call',
    answer: async ({ params }, passing) => ({
      result: { found: found(await definitions.find(String(params?.name), passing)) },
    }),
    hear: (notification, behind) => definitions.hear(notification, behind),
  };
  return { clock, definitions, ...stepped([step], { 'tools/list': list }) };
}

const pages = ({ params }: RequestMessage) =>
  params?.cursor === 'next'
    ? { result: { tools: [{ name: 'b' }] } }
    : { result: { tools: [{ name: 'a' }, 5, {}], nextCursor: 'next' } };

describe('the definitions of a server', () => {
  it('are read when one is needed, every page, and again after a minute or when the server says so', async () => {
    const { talk, server, clock } = start(pages);
    const { ask } = await talk();
    const found = async (name: string) => (await ask('tools/call', { name })).result?.found;
    expect([await found('b'), await found('a'), await found('c')]).toEqual([
      { name: 'b' },
      { name: 'a' },
      null,
    ]);
    expect(server.requests('tools/list')).toHaveLength(2);
    clock.ms = 60_000;
    await found('a');
    expect(server.requests('tools/list')).toHaveLength(4);
    server.say({ method: 'notifications/tools/list_changed' });
    await found('a');
    expect(server.requests('tools/list')).toHaveLength(6);
  });

  it('are each account’s own (T-158)', async () => {
    const { talk, server } = start(pages);
    for (const subject of ['ann', 'bob']) await (await talk({ subject })).ask('tools/call', { name: 'a' });
    expect(server.requests('tools/list')).toHaveLength(4);
  });

  it('are read anew where the server gave none, which says why', async () => {
    let count = 0;
    const { talk } = start((request) =>
      count++ === 0 ? { error: { code: -1, message: 'no' } } : pages(request),
    );
    const { ask } = await talk();
    expect((await ask('tools/call', { name: 'a' })).result?.found).toBe('no');
    expect((await ask('tools/call', { name: 'a' })).result?.found).toEqual({ name: 'a' });
  });

  it('are read to the end of a list that goes in a circle, and no further (T-160)', async () => {
    const circle = ({ params }: RequestMessage) => ({
      result: { tools: [{ name: String(params?.cursor) }], nextCursor: params?.cursor === 'a' ? 'b' : 'a' },
    });
    const { talk, server } = start(circle);
    const { ask } = await talk();
    expect((await ask('tools/call', { name: 'b' })).result?.found).toEqual({ name: 'b' });
    expect(server.requests('tools/list')).toHaveLength(3);
  });

  it('are given up where reading them takes too long, however quick each page is (T-157)', async () => {
    const { talk, server, clock } = start(() => {
      clock.ms += 9000;
      return { result: { tools: [{ name: 'a' }], nextCursor: String(clock.ms) } };
    });
    const { ask } = await talk();
    expect((await ask('tools/call', { name: 'a' })).result?.found).toMatch(/gives no list/);
    expect(server.requests('tools/list')).toHaveLength(4);
  });

  describe('of which a part could not be had', () => {
    const away = { code: -32603, message: 'the server web is away' };
    const absenceOf = (name: string) => (name.startsWith('web_') ? away : undefined);

    it('are known all the same; what the part would have is told why, and looked for again each time', async () => {
      let isAway = true;
      const { talk, server } = start(() => ({
        result: isAway
          ? withAbsence({ tools: [{ name: 'own_a' }] }, absenceOf)
          : { tools: [{ name: 'own_a' }, { name: 'web_a' }] },
      }));
      const { ask } = await talk();
      const found = async (name: string) => (await ask('tools/call', { name })).result?.found;
      expect([await found('own_a'), await found('own_b'), await found('own_a')]).toEqual([
        { name: 'own_a' },
        null,
        { name: 'own_a' },
      ]);
      expect(server.requests('tools/list')).toHaveLength(1);
      expect([await found('web_a'), await found('web_b')]).toEqual([away.message, away.message]);
      expect(server.requests('tools/list')).toHaveLength(3);
      isAway = false;
      expect([await found('web_a'), await found('web_b')]).toEqual([{ name: 'web_a' }, null]);
    });

    it('are read again when the person has given what it needs, for as long as they are waited for (C7-04)', async () => {
      let isGiven = false;
      const missing = { name: 'key', key: 'key', message: 'It needs a key.', url: 'https://example.com' };
      const error = withMissingInput(away, { ...missing, isGiven: async () => isGiven });
      const definitions = new ToolDefinitions(() => 0);
      const finds = (patienceMs: number) =>
        definitions.find(
          'a',
          new SteppedRequest({
            caller: withPatience(callerNamed('ann'), patienceMs),
            era: 'legacy',
            behind: definitions,
            ask: async () => (isGiven ? { result: { tools: [{ name: 'a' }] } } : { error }),
          }),
        );
      expect([await finds(0), await finds(1)]).toEqual([{ error }, { error }]);
      const waiting = finds(20_000);
      isGiven = true;
      expect(await waiting).toEqual({ tool: { name: 'a' } });
    });
  });

  it('are read again if the server told another node of a change, or changes may have been lost', async () => {
    const { talk, server, definitions } = start(pages);
    const { ask } = await talk();
    await ask('tools/call', { name: 'a' });
    definitions.hear({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' });
    await ask('tools/call', { name: 'a' });
    expect(server.requests('tools/list')).toHaveLength(2);
    definitions.hear({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await ask('tools/call', { name: 'a' });
    expect(server.requests('tools/list')).toHaveLength(4);
    definitions.forgetAll();
    await ask('tools/call', { name: 'a' });
    expect(server.requests('tools/list')).toHaveLength(6);
  });
});
