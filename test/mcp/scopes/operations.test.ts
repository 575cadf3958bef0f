import { describe, expect, it } from 'vitest';
import { operationOn, operationsOf } from '../../../src/mcp/scopes/operations.ts';

const message = (method: string, params?: Record<string, unknown>) => ({
  jsonrpc: '2.0' as const,
  id: 'a',
  method,
  ...(params ? { params } : {}),
});
const used = (method: string, params?: Record<string, unknown>) =>
  operationsOf(message(method, params)).map(({ kind, name }) => `${kind} ${name}`);

describe('what a message uses', () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    ['tools/call', { name: 'add' }, ['tool add']],
    ['prompts/get', { name: 'sum' }, ['prompt sum']],
    ['resources/read', { uri: 'a://b' }, ['resource a://b']],
    ['resources/subscribe', { uri: 'a://b' }, ['resource a://b']],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'sum' } }, ['prompt sum']],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'a://{b}' } }, ['resource a://{b}']],
    [
      'subscriptions/listen',
      { notifications: { toolsListChanged: true, resourceSubscriptions: ['a://b', 7, 'a://c'] } },
      ['resource a://b', 'resource a://c'],
    ],
  ])('of %s %j is %j', (method, params, expected) => {
    expect(used(method, params)).toEqual(expected);
  });

  it.each<[string, Record<string, unknown> | undefined]>([
    ['ping', undefined],
    ['tools/list', {}],
    ['tools/call', undefined],
    ['tools/call', { name: ['add'] }],
    ['tools/call', { name: null }],
    ['resources/read', { uri: {} }],
    ['completion/complete', { ref: null }],
    ['completion/complete', {}],
    ['subscriptions/listen', {}],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: 'a://b' } }],
    ['__proto__', { name: 'add' }],
    ['constructor', { name: 'add' }],
  ])('of %s %j is nothing (T-137)', (method, params) => {
    expect(used(method, params)).toEqual([]);
  });

  it('is told to the server’s own rules with the arguments of the call', () => {
    const call = message('tools/call', { name: 'add', arguments: { n: 1 } });
    expect(operationsOf(call)[0]?.request).toEqual(call);
  });

  it('of a completion or a subscription is told as the reading it prepares', () => {
    const [subscribed] = operationsOf(message('resources/subscribe', { uri: 'a://b' }));
    expect(subscribed?.request).toMatchObject({ method: 'resources/read', params: { uri: 'a://b' } });
    expect(operationOn('prompt', 'sum').request).toMatchObject({
      method: 'prompts/get',
      params: { name: 'sum' },
    });
  });
});
