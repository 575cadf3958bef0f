import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../src/mcp/http/refusal.ts';
import { maxBatchLength, readFrames, readFramesOfServer } from '../../src/mcp/protocol.ts';

const request = { jsonrpc: '2.0', id: 1, method: 'ping' };
const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
const response = { jsonrpc: '2.0', id: 'a', result: {} };

function verdict(value: unknown): string {
  const messages = readFrames(value);
  if (isRefusal(messages)) return messages.reason;
  return `${messages.isBatch ? 'batch' : 'one'} of ${messages.list.length}, ${messages.requests.length} to answer`;
}

describe('a message', () => {
  it.each<[string, unknown, string]>([
    ['a request', request, 'one of 1, 1 to answer'],
    ['a request with a string id', { ...request, id: '' }, 'one of 1, 1 to answer'],
    ['a request with a negative id', { ...request, id: -1 }, 'one of 1, 1 to answer'],
    ['a notification', notification, 'one of 1, 0 to answer'],
    ['a response', response, 'one of 1, 0 to answer'],
    [
      'an error without id',
      { jsonrpc: '2.0', id: null, error: { code: 1, message: '' } },
      'one of 1, 0 to answer',
    ],
  ])('is read: %s (C1-01)', (_what, value, expected) => {
    expect(verdict(value)).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['a number', 1],
    ['null', null],
    ['an empty object', {}],
    ['without a version', { id: 1, method: 'ping' }],
    ['of version 1.0', { ...request, jsonrpc: '1.0' }],
    ['with id null', { ...request, id: null }],
    ['with a broken id', { ...request, id: 1.5 }],
    ['with an id beyond exact integers', { ...request, id: 1e300 }],
    ['with an object as id', { ...request, id: {} }],
    ['with a method that is no string', { ...request, method: 1 }],
    ['with parameters in an array', { ...request, params: [] }],
    ['with neither method nor result', { jsonrpc: '2.0', id: 1 }],
    ['that is a request and an answer', { ...request, result: {} }],
    ['with metadata that is none', { ...request, params: { _meta: null } }],
    [
      'about a task without a name',
      { ...request, params: { _meta: { 'io.modelcontextprotocol/related-task': 1 } } },
    ],
    ['with both result and error', { ...response, error: {} }],
    ['with null as result', { ...response, result: null }],
    ['with 0 as result', { ...response, result: 0 }],
    ['with text as result', { ...response, result: 'ok' }],
    ['with a list as result', { ...response, result: [] }],
    ['with null as error', { jsonrpc: '2.0', id: 1, error: null }],
    ['with text as error', { jsonrpc: '2.0', id: 1, error: 'no' }],
  ])('is refused: %s (C1-01, T-142)', (_what, value) => {
    expect(verdict(value)).toBe('not_a_message');
  });
});

it.each([
  [
    'params of a notification',
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: [] },
    {},
  ],
  ['params of a request', { jsonrpc: '2.0', id: 1, method: 'roots/list', params: [] }, {}],
  ['_meta', { jsonrpc: '2.0', id: 1, method: 'ping', params: { a: 1, _meta: [] } }, { params: { a: 1 } }],
])('An empty array for %s of a server is an object without members (FA-48)', (_what, value, read) => {
  const { params: _none, ...others } = value;
  expect(readFramesOfServer(value)).toMatchObject({ list: [{ ...others, ...read }] });
  expect(readFramesOfServer([value])).toMatchObject({ isBatch: true, list: [{ ...others, ...read }] });
  expect(readFramesOfServer({ ...value, params: [1] })).toEqual({ reason: 'not_a_message' });
});

describe('a batch', () => {
  it.each<[string, unknown[], string]>([
    ['of requests and notifications', [request, notification], 'batch of 2, 1 to answer'],
    ['of one', [request], 'batch of 1, 1 to answer'],
    ['as long as allowed', Array(maxBatchLength).fill(notification), 'batch of 100, 0 to answer'],
    ['of nothing', [], 'empty_batch'],
    ['too long by one', Array(maxBatchLength + 1).fill(notification), 'batch_too_long'],
    ['of 100,000', Array(100_000).fill(request), 'batch_too_long'],
    ['within a batch', [[request]], 'not_a_message'],
    ['with something else in it', [request, 1], 'not_a_message'],
    ['with initialize', [{ ...request, method: 'initialize' }], 'initialize_in_batch'],
  ])('%s (B3-13, B3-14, T-136)', (_what, value, expected) => {
    expect(verdict(value)).toBe(expected);
  });
});
