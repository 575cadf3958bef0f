import { describe, expect, it } from 'vitest';
import { SteppedRequest } from '../../../src/gateway/steps/stepped-request.ts';

function request(): SteppedRequest {
  const ask = async () => ({ result: {} });
  return new SteppedRequest({ caller: undefined, era: 'modern', behind: {}, ask });
}

describe('a request on its way through the steps', () => {
  it('tells that it was cancelled, before or after somebody looks', () => {
    const [looked, unlooked] = [request(), request()];
    const { signal } = looked;
    expect([signal.aborted, looked.isCancelled]).toEqual([false, false]);
    looked.cancel();
    unlooked.cancel();
    expect([signal.aborted, unlooked.signal.aborted, unlooked.isCancelled]).toEqual([true, true, true]);
  });

  it('tells one step of progress, and nobody where none listens', () => {
    const one = request();
    one.progress();
    let count = 0;
    one.onProgress(() => count++);
    one.progress();
    expect(count).toBe(1);
  });
});
