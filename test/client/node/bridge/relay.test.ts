import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { ClientError } from '../../../../src/client/index.ts';
import { failedAnswer, describe as say } from '../../../../src/client/node/bridge/relay.ts';

describe('the answer to a request that did not reach its server', () => {
  it('says why, with the reason of the client behind it', () => {
    const cause = new ClientError('unreachable', 'http://127.0.0.1 cannot be reached.');
    expect(failedAnswer(7, new Error('SDK', { cause }))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32000,
        message: 'http://127.0.0.1 cannot be reached.',
        data: { reason: 'unreachable' },
      },
    });
    expect(failedAnswer('a', cause)).toMatchObject({ id: 'a', error: { data: { reason: 'unreachable' } } });
  });

  it('says that there is nothing at the URL, in place of the page that says so', () => {
    const answered = (status: number, statusText: string) =>
      say(new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, '<p>', { status, statusText }));
    expect(answered(404, 'Not Found')).toBe(
      'The server answered with 404 Not Found. Check the path of the URL.',
    );
    expect(answered(413, '')).toBe('<p>');
  });

  it('is bounded, and a sentence whatever was thrown', () => {
    expect(say(new Error('x'.repeat(5000)))).toHaveLength(600);
    expect(say(undefined)).toBe('The server cannot be reached.');
  });
});
