import { describe, expect, it, onTestFinished } from 'vitest';
import type { AfterRefusal } from '../../../src/gateway/credentials/credentials.ts';
import {
  createRefusedCredentials,
  createSteps,
  type StepsOptions,
} from '../../../src/gateway/steps/index.ts';
import { ownData } from '../../../src/mcp/building-blocks.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { cacheSettings, policySettings } from '../../../src/settings/policy.ts';
import { stepped } from './support/stepped.ts';

function steps(policy: unknown, cache: unknown = {}, credentials?: StepsOptions['credentials']) {
  const logger = createLogger('silent');
  const made = createSteps({
    name: 'Notes',
    isOneForAll: false,
    isPersonal: false,
    policy: policySettings.parse(policy),
    cache: cacheSettings.parse(cache),
    credentials,
    logger,
    nowMs: () => 0,
  });
  onTestFinished(() => made.close());
  return made;
}

const failing = {
  'tools/call': () => ({ error: { code: -32603, message: 'x', data: { reason: 'backend_ended' } } }),
  'tools/list': () => ({ result: { tools: [{ name: 'a' }, { name: 'b' }] } }),
};

describe('the steps before a backend', () => {
  it('let everything through where nothing is set', async () => {
    const { talk } = stepped(steps({}).list, failing);
    expect((await (await talk()).ask('tools/list')).result?.tools).toHaveLength(2);
  });

  it('refuse before they count, and count before they ask: what is refused is no failure of the server', async () => {
    const { list, breaker } = steps({
      tools: { deny: ['b'] },
      limits: [{ perMinute: 1 }],
      breaker: { failures: 2 },
    });
    const { talk, server } = stepped(list, failing);
    const { ask } = await talk();
    const reasonOf = async (name: string) => {
      const { error } = await ask('tools/call', { name });
      return (error?.data as { reason?: string } | undefined)?.reason ?? error?.code;
    };
    expect(await reasonOf('b')).toBe(-32602);
    expect(await reasonOf('a')).toBe('backend_ended');
    for (let count = 0; count < 3; count++) expect(await reasonOf('a')).toBe('tool_called_too_often');
    expect(breaker.status()).toEqual({ isOpenForAll: false, accounts: 0 });
    expect(await reasonOf('c')).toBe('backend_ended');
    expect(await reasonOf('d')).toBe('backend_resting');
    expect(server.requests('tools/call')).toHaveLength(2);
  });

  it('show each caller what policy leaves of answers that are kept, and check arguments before they ask', async () => {
    const { list } = steps({ tools: { deny: ['b'] }, checkArguments: true }, { listSeconds: 60 });
    const tools = [{ name: 'a', inputSchema: { required: ['x'] } }, { name: 'b' }];
    const { talk, server } = stepped(list, { ...failing, 'tools/list': () => ({ result: { tools } }) });
    const { ask } = await talk();
    for (let count = 0; count < 2; count++)
      expect((await ask('tools/list')).result?.tools).toMatchObject([{ name: 'a' }]);
    expect(server.requests('tools/list')).toHaveLength(1);
    expect((await ask('tools/call', { name: 'a', arguments: {} })).result?.isError).toBe(true);
    expect(server.requests('tools/call')).toHaveLength(0);
  });

  it('let go of what is kept for somebody whose credentials change, and hear of it until they are closed (T-158)', async () => {
    type Tell = Parameters<NonNullable<StepsOptions['credentials']>['onChange']>[0];
    const heard = new Set<Tell>();
    const onChange = (tell: Tell) => {
      heard.add(tell);
      return () => void heard.delete(tell);
    };
    const { list, close } = steps({}, { listSeconds: 60 }, { onChange });
    const { talk, server } = stepped(list, failing);
    const { ask } = await talk({ subject: 'ann' });
    await ask('tools/list');
    for (const tell of heard) tell({ issuer: 'https://example.com', subject: 'ann' });
    await ask('tools/list');
    expect(server.requests('tools/list')).toHaveLength(2);
    close();
    expect(heard.size).toBe(0);
  });
});

describe('rejected credentials', () => {
  const unauthorized = {
    error: { code: -32603, message: '401', data: ownData({ reason: 'backend_wants_login' }) },
  };
  const done = { result: { content: [] } };
  const asked = { error: { code: -32603, message: 'Enter another one.' } };

  function start(answers: readonly object[], outcomes: readonly (AfterRefusal | undefined)[]) {
    const [left, next] = [[...answers], [...outcomes]];
    const subjects: string[] = [];
    const step = createRefusedCredentials({
      async refused({ subject }) {
        subjects.push(subject);
        return next.length > 1 ? next.shift() : next[0];
      },
    });
    const { server, talk } = stepped([step], {
      'tools/call': () => (left.length > 1 ? left.shift() : left[0]),
    });
    const call = async () => (await talk()).ask('tools/call', { name: 'a' });
    return { server, call, subjects };
  }

  describe('a server that does not accept what it is given for a caller', () => {
    it('is asked again where that was renewed, and the caller gets its answer', async () => {
      const { server, call, subjects } = start([unauthorized, done], ['renewed']);
      expect((await call()).result).toEqual(done.result);
      expect(server.requests('tools/call')).toHaveLength(2);
      expect(subjects).toEqual(['ann']);
    });

    it('is asked three times at most', async () => {
      const { server, call } = start([unauthorized], ['renewed']);
      expect((await call()).error).toEqual(unauthorized.error);
      expect(server.requests('tools/call')).toHaveLength(3);
    });

    it('is not asked again where the caller has to give something else first, which is the answer', async () => {
      const { server, call } = start([unauthorized], [asked]);
      expect((await call()).error).toEqual(asked.error);
      expect(server.requests('tools/call')).toHaveLength(1);
    });

    it('is answered as it answers where nothing of it is the caller’s own, or it failed otherwise', async () => {
      expect((await start([unauthorized], [undefined]).call()).error).toEqual(unauthorized.error);
      const failed = { error: { code: -32603, message: 'no', data: { reason: 'backend_failed' } } };
      const { call, subjects } = start([failed], ['renewed']);
      expect((await call()).error).toEqual(failed.error);
      expect(subjects).toEqual([]);
    });
  });
});
