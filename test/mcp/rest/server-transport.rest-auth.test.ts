import { describe, expect, it } from 'vitest';
import { getAuthValue, getParamValue } from '../../../src/mcp/rest/server-transport.ts';

const values = {
  argv: ['node', 'main', '--mode=rest', '--empty='],
  env: { API_KEY: 'of the process', mode: 'env' },
};
const sent = (auth: unknown) => ({ params: { _meta: { auth } } });

describe('a credential of a request', () => {
  it('is the one its caller sent, in upper or lower case (B7-15)', () => {
    expect(getAuthValue(sent({ API_KEY: 'a' }), 'API_KEY', values)).toBe('a');
    expect(getAuthValue(sent({ api_key: 'b' }), 'API_KEY', values)).toBe('b');
    expect(getAuthValue(sent({ api_key: 'b', API_KEY: 'a' }), 'API_KEY', values)).toBe('a');
  });

  it('is found in the context of a handler, in version 2 and 1 of the SDK (B7-15)', () => {
    const _meta = { auth: { API_KEY: 'a' } };
    expect(getAuthValue({ mcpReq: { _meta } }, 'API_KEY', values)).toBe('a');
    expect(getAuthValue({ _meta }, 'API_KEY', values)).toBe('a');
  });

  it.each([
    [undefined],
    [null],
    ['API_KEY'],
    [{}],
    [{ API_KEY: '' }],
    [{ API_KEY: 7 }],
    [Object.create({ API_KEY: 'inherited' })],
  ])('is else the one of the process (B7-15): %j', (auth) => {
    expect(getAuthValue(sent(auth), 'API_KEY', values)).toBe('of the process');
    expect(getAuthValue({}, 'API_KEY', values)).toBe('of the process');
  });

  it('is empty if there is none, so that the recipe of the first implementation runs as written (B7-15, FA-35)', () => {
    const ask = (auth: unknown) =>
      getAuthValue(sent(auth), 'MODE_KEY', values) || getParamValue('mode_key', values);
    expect(getAuthValue(sent({}), 'constructor', { argv: [], env: {} })).toBe('');
    expect([ask({ mode_key: 'sent' }), ask({ other: 'x' }), ask({ MODE_KEY: '' })]).toEqual([
      'sent',
      undefined,
      undefined,
    ]);
    const started = { argv: ['--MODE_KEY=started'], env: {} };
    expect(getAuthValue(sent({}), 'absent', started) || getParamValue('mode_key', started)).toBe('started');
  });
});

describe('a value of the process', () => {
  it('comes from its arguments, else from its environment (B7-15)', () => {
    expect(getParamValue('mode', values)).toBe('rest');
    expect(getParamValue('API_KEY', values)).toBe('of the process');
    expect(getParamValue('empty', values)).toBeUndefined();
    expect(getParamValue('mod', values)).toBeUndefined();
  });

  it('is found in upper or lower case, the exact name first (FA-35)', () => {
    expect(getParamValue('api_key', values)).toBe('of the process');
    expect(getParamValue('KEY', { argv: ['--key=a', '--KEY=b'], env: {} })).toBe('b');
  });
});
