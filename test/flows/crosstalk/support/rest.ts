import { Call, kindOf } from './call.ts';
import type { Calling } from './callers.ts';
import { send } from './http.ts';
import { inParallel } from './in-parallel.ts';

const callsOfPost = 40;

/** Calls over Rest, two POSTs at once: one with a single call of id 1, and the others with forty, of ids 1 to 40. */
export async function callRest({ port, principal, count, tally }: Calling): Promise<void> {
  const headers = { authorization: `Bearer ${principal.tokens.rest}`, accept: 'application/json' };
  const posts = Math.ceil(count / callsOfPost) + 1;
  await inParallel(2, posts, async (post) => {
    const first = post === 0 ? 0 : (post - 1) * callsOfPost + 1;
    const size = post === 0 ? 1 : Math.min(callsOfPost, count - first);
    const calls = Array.from({ length: size }, (_, at) => {
      const turn = first + at;
      return new Call(principal.name, `r${turn}`, { kind: kindOf(turn, false), id: at + 1, tally });
    });
    if (calls.length === 0) return;
    const requests = calls.map((call) => call.request());
    const { status } = await send({
      port,
      path: '/rest',
      headers,
      body: size === 1 ? requests[0] : requests,
      onMessage: (message) => calls[Number(message.id) - 1]?.hear(message),
    });
    for (const call of calls) {
      if (status !== 200) call.fail(`HTTP ${status}`);
      call.end();
    }
  });
}
