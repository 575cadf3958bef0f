import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { answerInTime } from '../../src/mcp/late-stream.ts';

const message = { jsonrpc: '2.0', id: 1, result: { text: 'a\nb\r\nevent: x' } };

describe('an answer', () => {
  it('that comes soon comes as it is', async () => {
    const answer = Response.json(message, { status: 400 });
    expect(await answerInTime(Promise.resolve(answer), 1000)).toBe(answer);
  });

  it('that comes late is an event, after comments that keep the stream alive (B5-13)', async () => {
    const late = await answerInTime(
      sleep(120).then(() => Response.json(message)),
      25,
    );
    expect(late.status).toBe(200);
    expect(Object.fromEntries(late.headers)).toEqual({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    const text = await late.text();
    expect(text.match(/: waiting\n\n/g)?.length).toBeGreaterThanOrEqual(2);
    expect(text.endsWith(`event: message\ndata: ${JSON.stringify(message)}\n\n`)).toBe(true);
  });

  it('that comes late as a stream goes on as one', async () => {
    const stream = new Response('data: {}\n\n', { headers: { 'content-type': 'text/event-stream' } });
    const late = await answerInTime(
      sleep(60).then(() => stream),
      25,
    );
    expect(await late.text()).toMatch(/^(: waiting\n\n)+data: \{\}\n\n$/);
  });

  it('that fails late breaks the stream off', async () => {
    const failure = sleep(60).then(() => Promise.reject(new Error('lost')));
    const late = await answerInTime(failure, 25);
    await expect(late.text()).rejects.toThrow('lost');
  });

  it('that nobody waits for any more is dropped without an error', async () => {
    const late = await answerInTime(
      sleep(60).then(() => Response.json(message)),
      25,
    );
    await late.body?.cancel();
    await sleep(80);
  });
});
