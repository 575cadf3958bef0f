import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { ClientError } from '../../../../src/client/index.ts';
import { failedAnswer, patientFetch, describe as say } from '../../../../src/client/node/bridge/relay.ts';

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

describe('patient fetch', () => {
  const url = 'http://127.0.0.1/mcp';
  const refused = new TypeError('fetch failed', {
    cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
  });

  function scripted(...steps: ('up' | Error)[]) {
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      const step = steps[Math.min(asked++, steps.length - 1)];
      if (step instanceof Error) throw step;
      return new Response('up');
    };
    return { fetch, asked: () => asked };
  }

  describe('a fetch that waits for a server', () => {
    it('sends again what never left, once the server has been there', async () => {
      const { fetch, asked } = scripted('up', refused, refused, 'up');
      const patient = patientFetch(fetch);
      await patient(url);
      expect(await (await patient(url)).text()).toBe('up');
      expect(asked()).toBe(4);
    });

    it('does not wait for one that never was, nor for longer than it may', async () => {
      const never = scripted(refused);
      await expect(patientFetch(never.fetch)(url)).rejects.toBe(refused);
      expect(never.asked()).toBe(1);
      const gone = scripted('up', refused);
      const patient = patientFetch(gone.fetch, 150);
      await patient(url);
      await expect(patient(url)).rejects.toBe(refused);
      expect(gone.asked()).toBe(3);
    });

    it('does not send again what may have arrived', async () => {
      const cut = new TypeError('fetch failed', {
        cause: Object.assign(new Error('cut'), { code: 'ECONNRESET' }),
      });
      const { fetch, asked } = scripted('up', cut);
      const patient = patientFetch(fetch);
      await patient(url);
      await expect(patient(url)).rejects.toBe(cut);
      expect(asked()).toBe(2);
    });

    it('ends waiting with its request', async () => {
      const { fetch } = scripted('up', refused);
      const patient = patientFetch(fetch);
      await patient(url);
      await expect(patient(url, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
        name: 'AbortError',
      });
    });
  });
});
