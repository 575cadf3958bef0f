import { describe, expect, it } from 'vitest';
import { serveTolerantly, tolerate } from '../../src/authorization-server/tolerances.ts';

describe('a request', () => {
  it('is let through with what is on, and the list says with what, each once', async () => {
    const seen: boolean[] = [];
    const tolerated = await serveTolerantly(
      (name) => name !== 'missingScope',
      async () => {
        seen.push(tolerate('missingScope', 'no scope'));
        await Promise.resolve();
        seen.push(tolerate('resourceSpelling', 'resource https://x/mcp/'));
        seen.push(tolerate('resourceSpelling', 'resource https://X/mcp'));
      },
    );
    expect(seen).toEqual([false, true, true]);
    expect(tolerated).toEqual([{ tolerance: 'resourceSpelling', because: 'resource https://x/mcp/' }]);
  });

  it('is not mixed up with another that runs at the same time', async () => {
    const serve = (because: string) =>
      serveTolerantly(
        () => true,
        async () => {
          await new Promise((resolve) => setImmediate(resolve));
          tolerate('missingResource', because);
        },
      );
    const [one, other] = await Promise.all([serve('one'), serve('other')]);
    expect([one[0]?.because, other[0]?.because]).toEqual(['one', 'other']);
  });
});

describe('outside of a request', () => {
  it('nothing is switched off', () => {
    expect(tolerate('localhostPort', 'a test')).toBe(true);
  });
});
