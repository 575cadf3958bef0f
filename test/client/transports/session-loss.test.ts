import { SdkErrorCode, SdkHttpError, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { isSessionLost } from '../../../src/client/transports/session-loss.ts';

const refused = (status: number, text = ''): SdkHttpError =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'refused', { status, text });
const within: Transport = {
  start: async () => undefined,
  send: async () => undefined,
  close: async () => undefined,
  sessionId: 's',
};

describe('a lost session', () => {
  it.each([
    ['404 (B3-11)', refused(404), true],
    [
      '400 that speaks of sessions',
      refused(400, '{"error":{"message":"No valid session ID provided"}}'),
      true,
    ],
    ['another 400', refused(400, 'bad JSON'), false],
    ['401', refused(401, 'session'), false],
    ['a failure of the network', new TypeError('fetch failed'), false],
    ['404 to a POST of HTTP+SSE', new Error('Error POSTing to endpoint (HTTP 404): x'), true],
    ['500 to a POST of HTTP+SSE', new Error('Error POSTing to endpoint (HTTP 500): 404'), false],
  ])('shows by %s: %#', (_name, error, lost) => {
    expect(isSessionLost(error, within)).toBe(lost);
  });

  it('needs a session that was there', () => {
    expect(isSessionLost(refused(404), { ...within, sessionId: undefined })).toBe(false);
  });
});
