import { describe, expect, it } from 'vitest';
import { askForRefusal, readEndpointRefusal } from '../../../src/client/authorization/endpoint-refusal.ts';

const page = () => new Response('<title>No</title>', { status: 400 });

describe('why an authorization endpoint refuses', () => {
  it('is in the answer where that is for programs', async () => {
    const answer = Response.json({ error: 'invalid_scope', error_description: 'no reed' }, { status: 400 });
    expect(await readEndpointRefusal(answer, async () => page())).toEqual({
      error: 'invalid_scope',
      description: 'no reed',
    });
  });

  it('is asked for where that is a page, whose title is all there is otherwise', async () => {
    const accepted: string[] = [];
    const told = async (accept: string) => {
      accepted.push(accept);
      return Response.json({ error: 'invalid_scope' }, { status: 400 });
    };
    expect(await readEndpointRefusal(page(), told)).toEqual({ error: 'invalid_scope' });
    expect(accepted).toEqual(['application/json']);
    expect(await readEndpointRefusal(page(), async () => page())).toEqual({ title: 'No' });
  });

  it.each([
    ['another status', async () => Response.json({ error: 'x' }, { status: 429 })],
    ['JSON of its own', async () => Response.json({ ray: 'a1' }, { status: 400 })],
    ['no answer', async () => Promise.reject(new TypeError('fetch failed'))],
  ])('is not known from %s', async (_, ask) => {
    expect(await askForRefusal(ask, 400)).toBeUndefined();
  });
});
