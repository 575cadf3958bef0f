import { describe, expect, it } from 'vitest';
import { nameOperation } from '../../../src/client/session/operation.ts';

describe('the operation of a request', () => {
  it.each([
    [{ method: 'tools/call', params: { name: 'add', arguments: { name: 'x' } } }, 'tools/call add'],
    [{ method: 'resources/read', params: { uri: 'file:///a' } }, 'resources/read file:///a'],
    [{ method: 'tools/list' }, 'tools/list'],
    [{ method: 'tools/call', params: { name: 7 } }, 'tools/call'],
  ])('%j is %s', (message, name) => {
    expect(nameOperation({ method: 'POST', body: JSON.stringify(message) })).toBe(name);
  });

  it.each([
    [{}, 'GET'],
    [{ method: 'DELETE' }, 'DELETE'],
    [{ method: 'POST', body: 'not json' }, 'POST'],
    [{ method: 'POST', body: '[]' }, 'POST'],
    [{ method: 'POST', body: 'null' }, 'POST'],
    [{ method: 'POST', body: new URLSearchParams('method=x') }, 'POST'],
  ])('of what is no message, %o, is the HTTP method', (init, name) => {
    expect(nameOperation(init)).toBe(name);
  });
});
