import { describe, expect, it } from 'vitest';
import { type FetchFault, FetchRefused } from '../../src/net/fetch-refused.ts';
import { createAsk, kindOf } from '../../src/upstream/ask.ts';
import { faultOf } from './subject.ts';

const asking = (answer: () => Promise<Response>) =>
  createAsk('work', answer)('user info', 'https://a.example');

describe('a request to an upstream', () => {
  it.each<[FetchFault, string, string]>([
    ['timeout', 'timed_out', 'unavailable'],
    ['unreachable', 'unreachable', 'unavailable'],
    ['not_public', 'address_not_public', 'refused'],
    ['certificate', 'certificate', 'refused'],
    ['redirected', 'redirected', 'refused'],
    ['too_large', 'too_large', 'refused'],
  ])('that is %s has that name and says what it means (T-084)', async (cause, reason, kind) => {
    const fault = await faultOf(asking(() => Promise.reject(new FetchRefused(cause, 'no'))));
    expect([fault.reason, fault.kind]).toEqual([reason, kind]);
    expect(fault.message).toMatch(/^upstream work: .*\(user info\)$/);
  });

  it('that failed in the network names the code, and holds nothing of what was received (T-093)', async () => {
    const cause = Object.assign(new Error('canary'), { code: 'HPE_INVALID_CONSTANT', rawPacket: 'canary' });
    const fault = await faultOf(
      asking(() => Promise.reject(new FetchRefused('unreachable', 'no', { cause }))),
    );
    expect(fault.message).toMatch(/\(user info, HPE_INVALID_CONSTANT\)$/);
    expect([fault.cause, fault.stack?.includes('canary')]).toEqual([undefined, false]);
  });

  it.each([
    [500, 'server_error'],
    [503, 'server_error'],
    [429, 'too_many_requests'],
  ])('answered with %s is none, and may be better later (T-084)', async (status, reason) => {
    const fault = await faultOf(asking(async () => new Response(null, { status })));
    expect([fault.reason, fault.kind]).toEqual([reason, 'unavailable']);
  });

  it('gives every other answer, and every mistake of ours, as it is', async () => {
    expect((await asking(async () => new Response(null, { status: 400 }))).status).toBe(400);
    const mistake = new TypeError('ours');
    await expect(asking(() => Promise.reject(mistake))).rejects.toBe(mistake);
  });

  it('has a fault of which nothing is known to pass as a refusal', () => {
    expect([kindOf('jwt_nonce'), kindOf('timed_out')]).toEqual(['refused', 'unavailable']);
  });
});
