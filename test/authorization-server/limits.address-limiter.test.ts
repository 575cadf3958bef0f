import { describe, expect, it } from 'vitest';
import { createAddressLimiter, type LoadLimiter } from '../../src/authorization-server/limits.ts';

const create = (): LoadLimiter =>
  createAddressLimiter({ times: 2, windowSeconds: 60 }, (address) => address === '192.0.2.1');

/** How many are let through before one waits. */
async function countRoom(limiter: LoadLimiter, key: string): Promise<number> {
  let taken = 0;
  while (taken < 100 && (await limiter.take(key)) === 0) taken++;
  return taken;
}

describe('a limiter of addresses', () => {
  it('allows a shared address twenty times as much', async () => {
    const limiter = create();
    expect(await countRoom(limiter, '192.0.2.2')).toBe(2);
    expect(await countRoom(limiter, '192.0.2.1')).toBe(40);
    expect(await limiter.wait('192.0.2.1')).toBeGreaterThan(0);
  });

  it('reads the address at the beginning of a longer key', async () => {
    const limiter = create();
    expect(await countRoom(limiter, '192.0.2.1 client')).toBe(40);
    expect(await countRoom(limiter, '192.0.2.2 192.0.2.1')).toBe(2);
  });

  it.each(['192.0.2.1', '192.0.2.2'])('is not idle when it has counted %s', async (address) => {
    const limiter = create();
    expect(limiter.isIdle()).toBe(true);
    await limiter.take(address);
    expect(limiter.isIdle()).toBe(false);
  });

  it('gives back where it counted', async () => {
    const limiter = create();
    await countRoom(limiter, '192.0.2.1');
    await limiter.giveBack('192.0.2.1');
    expect(await countRoom(limiter, '192.0.2.1')).toBe(1);
  });
});
