import { Call, kindOf } from './call.ts';
import type { Calling } from './callers.ts';
import { send } from './http.ts';
import { inParallel } from './in-parallel.ts';

/** Calls without a session in the revisions before 2026-07-28, four at once with the same id. */
export async function callStateless({ port, principal, count, tally }: Calling): Promise<void> {
  await inParallel(4, count, async (turn) => {
    const call = new Call(principal.name, `n${turn}`, { kind: kindOf(turn, false), id: 1, tally });
    const headers = {
      authorization: `Bearer ${principal.tokens.mcp}`,
      'mcp-protocol-version': turn % 2 === 0 ? '2025-11-25' : '2025-06-18',
    };
    const onMessage = call.hear.bind(call);
    const { status } = await send({ port, path: '/mcp', headers, body: call.request(), onMessage });
    if (status !== 200) call.fail(`HTTP ${status}`);
    call.end();
  });
}
