import { describe, expect, it } from 'vitest';
import { patientFetch } from '../../../../src/client/node/bridge/patient-fetch.ts';

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
