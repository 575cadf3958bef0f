import { Call, kindOf } from './call.ts';
import type { Calling } from './callers.ts';
import { type Received, send } from './http.ts';
import { initialize } from './sessions.ts';
import { noteWrong } from './tally.ts';

/** Calls over HTTP+SSE, one after the other, all with id 1; everything comes on the stream. */
export async function callOnStream({ port, principal, count, tally }: Calling): Promise<void> {
  const headers = { authorization: `Bearer ${principal.tokens.sse}` };
  const leaving = new AbortController();
  let take: (message: Received) => void = () => undefined;
  let postUrl: (url: string) => void = () => undefined;
  const address = new Promise<string>((resolve) => {
    postUrl = resolve;
  });
  const stream = send({
    port,
    path: '/sse',
    method: 'GET',
    among: 'streams',
    headers: { ...headers, accept: 'text/event-stream' },
    signal: leaving.signal,
    onMessage: (message) => take(message),
    onEvent: (_name, data) => postUrl(data),
  }).catch(() => undefined);
  const path = await address;
  const post = (body: unknown, among: 'calls' | 'answers' = 'calls'): Promise<{ status: number }> =>
    send({ port, path, headers, body, among });

  await new Promise<void>((resolve) => {
    take = () => resolve();
    void post(initialize('2024-11-05'));
  });
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (let turn = 0; turn < count; turn++) {
    const call = new Call(principal.name, `e${turn}`, { kind: kindOf(turn, true), id: 1, tally });
    const replies: Promise<unknown>[] = [];
    await new Promise<void>((resolve) => {
      take = (message) => {
        call.hear(message, (answer) =>
          replies.push(
            post(answer, 'answers').then(({ status }) => {
              if (status !== 202) call.fail(`HTTP ${status} for its answer`);
            }),
          ),
        );
        if (message.method === undefined) resolve();
      };
      replies.push(
        post(call.request()).then(({ status }) => {
          if (status === 202) return;
          call.fail(`HTTP ${status}`);
          resolve();
        }),
      );
    });
    await Promise.all(replies);
    call.end();
    take = (message) => noteWrong(tally, `${principal.name} after its answer: ${JSON.stringify(message)}`);
  }
  leaving.abort();
  await stream;
}
