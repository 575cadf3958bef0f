// Flows of src/mcp/sessions/session-registry.ts: a process that is asked to stop.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { type Restartable, startRestartable } from './support/restartable.ts';
import { openSession, toolCall } from './support/session.ts';

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
  }, 60_000);
});
