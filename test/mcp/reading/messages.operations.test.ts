import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/mcp/protocol.ts';
import {
  maxNameLength,
  maxNamesLength,
  maxOperations,
  operationOn,
  readOperations,
} from '../../../src/mcp/reading/messages.ts';

const message = (method: string, params?: Record<string, unknown>): Message => ({
  jsonrpc: '2.0',
  id: 'a',
  method,
  ...(params ? { params } : {}),
});
const used = (method: string, params?: Record<string, unknown>): unknown => {
  const read = readOperations([message(method, params)]);
  return typeof read === 'string' ? read : read.map(({ kind, name }) => `${kind} ${name}`);
};
const argument = { name: 'x', value: '' };
const long = 'x'.repeat(maxNameLength + 1);

describe('the reading of a message', () => {
  it.each<[string, Record<string, unknown> | undefined, string[]]>([
    ['tools/call', { name: 'add' }, ['tool add']],
    ['tools/call', { name: 'add', arguments: { n: 1 } }, ['tool add']],
    ['prompts/get', { name: 'sum' }, ['prompt sum']],
    ['resources/read', { uri: 'a://b' }, ['resource a://b']],
    ['resources/subscribe', { uri: 'a://b' }, ['resource a://b']],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'sum' }, argument }, ['prompt sum']],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'a://{b}' }, argument },
      ['resource a://{b}'],
    ],
    [
      'subscriptions/listen',
      { notifications: { toolsListChanged: true, resourceSubscriptions: ['a://b', 'a://c'] } },
      ['resource a://b', 'resource a://c'],
    ],
    ['subscriptions/listen', { notifications: {} }, []],
    ['ping', undefined, []],
    ['tools/list', { cursor: 'c' }, []],
    ['notifications/cancelled', { requestId: 1 }, []],
    ['tasks/get', { taskId: 't' }, ['method tasks/get']],
    ['Tools/Call', { name: 'add' }, ['method Tools/Call']],
    ['__proto__', { name: 'add' }, ['method __proto__']],
    ['constructor', undefined, ['method constructor']],
  ])('of %s %j names its operations (T-137, T-200)', (method, params, expected) => {
    expect(used(method, params)).toEqual(expected);
  });

  it.each<[string, Record<string, unknown> | undefined]>([
    ['tools/call', undefined],
    ['tools/call', { name: ['delete_all'] }],
    ['tools/call', { name: { toString: 'delete_all' } }],
    ['tools/call', { name: null }],
    ['tools/call', { name: 1 }],
    ['tools/call', { name: 'add', arguments: ['n'] }],
    ['tools/call', { name: 'add', arguments: 'n' }],
    ['prompts/get', { name: ['sum'] }],
    ['resources/read', { uri: {} }],
    ['resources/read', { uri: ['a://b'] }],
    ['resources/subscribe', { uri: ['a://b'] }],
    ['resources/unsubscribe', { uri: 7 }],
    ['completion/complete', {}],
    ['completion/complete', { ref: null, argument }],
    ['completion/complete', { ref: [{ type: 'ref/prompt', name: 'sum' }], argument }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: ['sum'] }, argument }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: ['a://b'] }, argument }],
    ['completion/complete', { ref: { type: 'ref/tool', name: 'sum' }, argument }],
    ['subscriptions/listen', {}],
    ['subscriptions/listen', { notifications: ['a://b'] }],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: 'a://b' } }],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: { 0: 'a://b', length: 1 } } }],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: ['a://b', ['a://c']] } }],
    ['tools/list', { cursor: 1 }],
    ['resources/templates/list', { cursor: {} }],
    ['logging/setLevel', { level: ['debug'] }],
    ['notifications/cancelled', { requestId: {} }],
    ['notifications/progress', { progressToken: [1] }],
    ['tools/call', { name: 'add', _meta: { progressToken: { a: 1 } } }],
    ['tools/call', { name: 'add', requestState: ['s'] }],
    ['tools/call', { name: 'add', inputResponses: [] }],
    ['initialize', { capabilities: [] }],
    ['tools/call', { name: 'add', Name: 'delete_all' }],
    ['tools/call', { name: 'add', argumentſ: {} }],
    ['resources/read', { uri: 'a://b', URI: 'a://c' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'sum', NAME: 'secret' } }],
    ['subscriptions/listen', { notifications: { resourceſubscriptions: ['a://b'] } }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'sum', uri: 'note://secret' } }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'note://open', name: 'secret' } }],
    ['tools/list', JSON.parse('{"__proto__":{"cursor":"c"}}')],
    ['tools/call', JSON.parse('{"name":"add","__proto__":{"uri":"note://secret"}}')],
  ])('refuses %s %j: a member that a guard reads has not its type (FA-01, T-200)', (method, params) => {
    expect(used(method, params)).toBe('params_not_valid');
  });

  it.each<[string, Message[]]>([
    ['of a method', [message(long)]],
    ['of a tool', [message('tools/call', { name: long })]],
    ['of a resource', [message('resources/read', { uri: long })]],
    ['of a resource that is listened to', [message('resources/subscribe', { uri: long })]],
    [
      'of a completed prompt',
      [message('completion/complete', { ref: { type: 'ref/prompt', name: long }, argument })],
    ],
    ['in a batch', [message('ping'), message('resources/read', { uri: long })]],
  ])('refuses a name that is too long %s (T-147)', (_what, messages) => {
    expect(readOperations(messages)).toBe('name_too_long');
  });

  it('refuses a message of which a member is there in another case, as some servers tell no cases apart (FA-01, T-217)', () => {
    for (const twin of ['ID', 'Method', 'PARAMS', 'paramſ'])
      expect(readOperations([{ ...message('ping'), [twin]: 'x' }])).toBe('not_a_message');
    expect(readOperations([{ ...message('ping'), other: 'x' } as Message])).toEqual([]);
  });

  it('takes a name of the greatest length', () => {
    expect(used('resources/read', { uri: long.slice(1) })).toHaveLength(1);
  });

  it('refuses more names than guards can look at in time, and names that are too long together (FA-04, T-204)', () => {
    const listening = (count: number, uri: string) =>
      used('subscriptions/listen', { notifications: { resourceSubscriptions: Array(count).fill(uri) } });
    expect(listening(maxOperations, 'a://b')).toHaveLength(maxOperations);
    expect(listening(maxOperations + 1, 'a://b')).toBe('too_many_names');
    expect(listening(45_000, 'a://b')).toBe('too_many_names');
    const reads = Array(100).fill(message('resources/read', { uri: 'x'.repeat(maxNamesLength / 100) }));
    expect(readOperations(reads)).toHaveLength(100);
    expect(readOperations([...reads, message('resources/read', { uri: long.slice(1) })])).toBe(
      'too_many_names',
    );
  });

  it('gives the server’s own rules the arguments of the call', () => {
    const call = message('tools/call', { name: 'add', arguments: { n: 1 } });
    expect(readOperations([call])).toMatchObject([{ request: call }]);
  });

  it('gives them a completion or a subscription as the reading it prepares', () => {
    expect(readOperations([message('resources/subscribe', { uri: 'a://b' })])).toMatchObject([
      { request: { method: 'resources/read', params: { uri: 'a://b' } } },
    ]);
    expect(operationOn('prompt', 'sum').request).toMatchObject({
      method: 'prompts/get',
      params: { name: 'sum' },
    });
  });
});
