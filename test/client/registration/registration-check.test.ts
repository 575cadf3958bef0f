import { describe, expect, it } from 'vitest';
import { isClientKnown } from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { startServer } from '../support/scripted-server.ts';

describe('a client registered earlier', () => {
  it.each([
    [200, true],
    [302, true],
    [403, true],
    [500, true],
    [400, false],
    [401, false],
  ])('where /authorize answers %i is known: %s', async (status, known) => {
    const server = await startServer({
      'GET /authorize': { status, headers: { location: '/login' }, text: '' },
    });
    expect(await isClientKnown(testContext(), `${server.origin}/authorize?client_id=x`)).toBe(known);
    expect(server.asked()).toEqual(['GET /authorize']);
  });

  it('is not forgotten because the server cannot be reached', async () => {
    const check = isClientKnown(testContext(), 'http://127.0.0.1:9/authorize');
    await expect(check).rejects.toMatchObject({ reason: 'unreachable' });
  });
});
