// Flows of src/mcp/legacy/session-registry.ts and src/mcp/transports.ts: a process that is asked to stop.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { modernRequest, readAnswer } from '../../mcp/support/gate.ts';
import { openStream } from '../../mcp/support/sse-stream.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { type Restartable, startRestartable } from './support/restartable.ts';
import { type Body, openSession, toolCall } from './support/session.ts';

const folder = testFolderForFile();
let process: Restartable;
beforeAll(async () => {
  process = await startRestartable(folder, 'each');
});
afterAll(() => process.end('SIGKILL'));

describe('a session whose process is asked to stop', () => {
  it('has its streams ended in order, what it waits for as JSON answered, and goes on afterwards (T-181, B3-10)', async () => {
    const session = await openSession(process);
    const other = await openSession(process);
    const streams = [await session.listen(), await other.listen()];
    const running = await session.postForStream(
      toolCall(1, 'slow', { label: 'streamed', ms: 60_000 }, { progressToken: 1 }),
    );
    const { id } = await running.until(({ method }) => method === 'notifications/progress');
    const waiting = other.post(toolCall(2, 'slow', { label: 'as JSON', ms: 60_000 }));
    await expect.poll(() => process.runs(), { timeout: 5000 }).toContain('as JSON');

    const begun = performance.now();
    const ended = process.end('SIGTERM');
    expect(await (await waiting).json()).toMatchObject({ id: 2, error: { code: -32000 } });
    for (const stream of [...streams, running]) {
      await stream.rest();
      expect(stream.broke()).toBe(false);
    }
    expect(await ended).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);

    await process.start();
    const again = await session.listen();
    expect(await session.call('echo', { said: 'still here' })).toMatchObject({
      result: { content: [{ text: 'still here' }] },
    });
    await session.call('log', { level: 'error', data: 'heard' });
    await again.until(({ params }) => params?.data === 'heard');
    const resumed = await (await session.listen(id ?? '')).rest();
    expect(resumed.filter(({ message }) => message)).toMatchObject([
      { message: { id: 1, error: { code: -32603 } } },
    ]);
    expect(process.runs()).toEqual(['streamed', 'as JSON']);
  });
});

describe.each(['each', 'shared'] as const)(
  'a process that is asked to stop while calls run (%s)',
  (sharing) => {
    const own = testFolderForFile();
    it('lets them end on every transport, then ends what still runs with an error, and takes nothing new (T-181)', async () => {
      const stopping = await startRestartable(own, sharing, 4000);
      onTestFinished(() => void stopping.end('SIGKILL'));
      const { mcpUrl, token } = stopping;
      const [restToken, sseToken] = [await stopping.tokenFor('/rest'), await stopping.tokenFor('/sse')];
      const at = (path: string) => mcpUrl.replace('/mcp', path);
      const headersOf = (bearer: string) => ({
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      });
      const session = await openSession(stopping);
      const idle = await session.listen();
      const url = new URL(at('/sse'));
      const [sse, idleSse] = [await openStream({ url }, sseToken), await openStream({ url }, sseToken)];
      await sse.initialize();

      const sendModern = (body: Body): Promise<Response> => {
        const { headers, json } = modernRequest('tools/call', body.params as Body, body.id as number);
        return fetch(mcpUrl, {
          method: 'POST',
          headers: { ...headersOf(token), ...headers },
          body: JSON.stringify(json),
        });
      };
      const sendRest = (body: Body): Promise<Response> =>
        fetch(at('/rest'), { method: 'POST', headers: headersOf(restToken), body: JSON.stringify(body) });
      const soon = (label: string) => toolCall(1, 'slow', { label, ms: 2000 });
      const never = (label: string) => toolCall(2, 'slow', { label, ms: 60_000 });
      const answers = [
        sendRest(soon('rest soon')),
        sendModern(soon('modern soon')),
        session.post(soon('session soon')),
        sendRest(never('rest never')),
        sendModern(never('modern never')),
      ].map(async (response) => readAnswer(await response));
      const resumable = session.postForStream(never('session never'));
      await sse.post(soon('sse soon'));
      await sse.post(never('sse never'));
      await expect.poll(() => stopping.runs().length, { timeout: 5000, interval: 10 }).toBe(8);

      const begun = performance.now();
      const ended = stopping.end('SIGTERM');
      const streamsEnd = Promise.all([idle.rest(), idleSse.next()]).then(() => 'streams');
      const firstAnswer = Promise.race(answers).then(() => 'answer');
      expect(await Promise.race([streamsEnd, firstAnswer])).toBe('streams');
      // On a connection that is still open it is told why; there is no new one.
      const refused = sendRest(soon('new')).then(({ status }) => status);
      expect(await refused.catch(() => 503)).toBe(503);
      const text = (label: string) => ({ result: { content: [{ text: label }] } });
      const interrupted = { id: 2, error: { code: -32603, message: expect.stringContaining('ended') } };
      expect(await Promise.all(answers)).toMatchObject([
        text('rest soon'),
        text('modern soon'),
        text('session soon'),
        interrupted,
        interrupted,
      ]);
      expect([await sse.message(), await sse.message()]).toMatchObject([text('sse soon'), interrupted]);
      expect(await sse.next()).toBeUndefined();
      const broken = await resumable;
      await broken.rest();
      expect(broken.broke()).toBe(false);
      expect(await ended).toBe(0);
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(stopping.runs()).not.toContain('new');
    });
  },
);
