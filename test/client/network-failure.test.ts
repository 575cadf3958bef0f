import { describe, expect, it } from 'vitest';
import { describeFailure, errorCode, neverLeft } from '../../src/client/network-failure.ts';

const failed = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('inner'), { code }) });

describe('why a fetch failed', () => {
  it('is said in words, with the code', () => {
    expect(describeFailure(failed('ECONNREFUSED'))).toBe('the connection was refused (ECONNREFUSED)');
    expect(describeFailure(failed('E_OTHER'))).toBe('E_OTHER');
  });

  it('is the deepest message where there is no code', () => {
    expect(describeFailure(new TypeError('fetch failed', { cause: new Error('bad port') }))).toBe('bad port');
    expect(describeFailure(new Error(''))).toBe('no connection');
    expect(describeFailure('text')).toBe('no connection');
  });

  it('tells whether the request can have reached a server', () => {
    expect(neverLeft(failed('ECONNREFUSED'))).toBe(true);
    expect(neverLeft(failed('ECONNRESET'))).toBe(false);
    expect(neverLeft(undefined)).toBe(false);
  });
});

describe('the code of a failure', () => {
  it.each([
    [Object.assign(new Error('taken'), { code: 'EADDRINUSE' }), 'EADDRINUSE'],
    [Object.assign(new Error('numbered'), { code: 7 }), undefined],
    [new Error('plain'), undefined],
    [undefined, undefined],
  ])('of %o is %s', (error, code) => {
    expect(errorCode(error)).toBe(code);
  });
});
