import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { errorCodes, isAboutTheRequest, modernErrorCodes } from '../../src/oauth/mcp-error-codes.ts';

it('error codes are those the SDK has by the same names; only these are of our own knowledge', () => {
  const ofSdk = Object.fromEntries(
    Object.entries(ProtocolErrorCode).map(([name, code]) => [
      name.replace(/^./, (letter) => letter.toLowerCase()),
      code,
    ]),
  );
  const others = Object.entries(errorCodes).filter(([name, code]) => ofSdk[name] !== code);
  expect(others).toEqual([
    ['headerMismatch', -32020],
    ['requestCancelled', -32800],
  ]);
});

it('B5-15: errors of 2026-07-28 are told from those that every revision has', () => {
  const modern = Object.values(errorCodes).filter((code) => modernErrorCodes.has(code));
  expect(modern).toEqual([-32020, -32021, -32022]);
});

it('a 4xx status is about the request unless it is about credentials, rights or load (B6-01)', () => {
  const about = [200, 400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 422, 429, 500].filter(
    isAboutTheRequest,
  );
  expect(about).toEqual([400, 404, 405, 406, 410, 422]);
});
