import { describe, expect, it } from 'vitest';
import { Chain } from '../../../src/gateway/steps/chain.ts';
import type { Step } from '../../../src/gateway/steps/step.ts';
import { stepped } from './support/stepped.ts';

describe('the chain of steps', () => {
  it('has no way for a method no step cares for, and asks the steps once', () => {
    let asked = 0;
    const step: Step = {
      cares(method) {
        asked++;
        return method === 'tools/call';
      },
      answer: (request, _passing, next) => next(request),
    };
    const chain = new Chain([step], { error: () => undefined });
    for (const method of ['ping', 'ping', 'tools/call', 'tools/call']) chain.wayOf(method);
    expect(chain.wayOf('ping')).toBeUndefined();
    expect(chain.wayOf('tools/call')).toBe(chain.wayOf('tools/call'));
    expect(asked).toBe(2);
  });

  it('looks methods beyond 200 up each time: clients may send any', () => {
    let asked = 0;
    const step: Step = { cares: () => ++asked < 0, answer: (request, _passing, next) => next(request) };
    const chain = new Chain([step], { error: () => undefined });
    for (let at = 0; at < 300; at++) chain.wayOf(`method/${at}`);
    chain.wayOf('method/0');
    expect(asked).toBe(300);
    chain.wayOf('method/299');
    expect(asked).toBe(301);
  });

  it('answers with an internal error, and tells the log, where a step fails (T-196, T-199)', async () => {
    const step: Step = {
      cares: (method) => method === 'tools/call',
      answer: async () => {
        throw new Error('secret cause');
      },
    };
    const { talk, log } = stepped([step]);
    const { error } = await (await talk()).ask('tools/call', { name: 'echo' });
    expect(error).toEqual({ code: -32603, message: 'Internal error' });
    expect(JSON.stringify(log)).toContain('secret cause');
  });

  it('tells other nodes of a change that a server reports, after its own steps, and of nothing else', () => {
    const told: unknown[] = [];
    const step: Step = {
      cares: () => false,
      answer: (request, _passing, next) => next(request),
      hear: ({ method }) => void told.push(method),
    };
    const chain = new Chain([step], { error: () => undefined }, { tell: (change) => told.push(change) });
    const params = { uri: 'test://a', extra: 'x' };
    chain.hear({ jsonrpc: '2.0', method: 'notifications/resources/updated', params }, {});
    chain.hear({ jsonrpc: '2.0', method: 'notifications/message' }, {});
    expect(told).toEqual([
      'notifications/resources/updated',
      { method: 'notifications/resources/updated', params: { uri: 'test://a' } },
      'notifications/message',
    ]);
  });
});
