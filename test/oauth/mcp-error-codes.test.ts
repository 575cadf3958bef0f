import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { errorCodes, modernErrorCodes } from '../../src/oauth/mcp-error-codes.ts';

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
