import { describe, expect, it } from 'vitest';
import { askedFor } from '../../../src/gateway/steps/asked-for.ts';

describe('what a request is about', () => {
  it.each([
    ['tools/call', { name: 'a' }, { kind: 'tool', name: 'a' }],
    ['prompts/get', { name: 'a' }, { kind: 'prompt', name: 'a' }],
    ['resources/read', { uri: 'a:' }, { kind: 'resource', name: 'a:' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'a' } }, { kind: 'prompt', name: 'a' }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'a:' } }, { kind: 'template', name: 'a:' }],
    ['completion/complete', {}, undefined],
    ['tools/call', { name: 5 }, undefined],
    ['tools/list', {}, undefined],
  ])('%s %j is %j', (method, params, about) => {
    expect(askedFor({ jsonrpc: '2.0', id: 1, method, params })).toEqual(about);
  });
});
