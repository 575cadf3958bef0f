import { describe, expect, it, onTestFinished } from 'vitest';
import { createChallenges } from '../../../src/authorization-server/authentication/passkeys.ts';
import { commitWrites } from '../../../src/authorization-server/engine/write-set.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

function create() {
  const storage = openNewDatabase();
  onTestFinished(() => storage.close());
  const box = createSealedBox([{ id: 'k', key: Buffer.alloc(32, 1).toString('base64url') }]);
  const clock = { now: 1000 };
  const challenges = createChallenges(storage.artifacts, box, () => clock.now);
  /** One request: what it got, and whether its commit stood. */
  const request = async <T>(work: () => T | Promise<T>) => {
    let got: T | undefined;
    const { result } = await commitWrites(storage.artifacts, async () => {
      got = await work();
      return true;
    });
    return { got, committed: result.committed };
  };
  return { challenges, clock, request };
}

describe('the challenge of a passkey', () => {
  it('is taken once, by the page it was made for', async () => {
    const { challenges, request } = create();
    const { got: issued } = await request(() => challenges.issue('page'));
    expect(issued).toMatch(/^[\w-]{43}$/);
    expect((await request(() => challenges.take('another'))).got).toBeUndefined();
    expect(await request(() => challenges.take('page'))).toEqual({ got: issued, committed: true });
    expect((await request(() => challenges.take('page'))).got).toBeUndefined();
  });

  it('taken by twenty requests at once counts for one', async () => {
    const { challenges, request } = create();
    await request(() => challenges.issue('page'));
    const all = await Promise.all(Array.from({ length: 20 }, () => request(() => challenges.take('page'))));
    expect(all.filter(({ got, committed }) => got !== undefined && committed)).toHaveLength(1);
  });

  it('gives way to the next one of its page, and ends after ten minutes', async () => {
    const { challenges, clock, request } = create();
    await request(() => challenges.issue('page'));
    const { got: second } = await request(() => challenges.issue('page'));
    expect((await request(() => challenges.take('page'))).got).toBe(second);
    await request(() => challenges.issue('page'));
    clock.now += 600;
    expect((await request(() => challenges.take('page'))).got).toBeUndefined();
  });

  it('belongs to a request', () => {
    expect(() => create().challenges.issue('page')).toThrow('belongs to a request');
  });
});
