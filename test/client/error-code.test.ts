import { describe, expect, it } from 'vitest';
import { errorCode } from '../../src/client/error-code.ts';

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
