// Flows of src/mcp/legacy/restore.ts and src/mcp/legacy/session-streams.ts: a process that is killed.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { type Restartable, startRestartable } from './support/restartable.ts';
import { openSession, type RawSession, toolCall } from './support/session.ts';

const folder = testFolderForFile();
let process: Restartable;
beforeAll(async () => {
  process = await startRestartable(folder, 'each');
});
afterAll(() => process.end('SIGKILL'));

async function restart(): Promise<void> {
  await process.end('SIGKILL');
  await process.start();
}

const logOf = (data: string) => ({ method: 'notifications/message', params: { level: 'error', data } });
const isLog = (data: string) => (message: { params?: Record<string, unknown> }) =>
  message.params?.data === data;

const ask = async (session: RawSession, method: string, params: object): Promise<void> => {
  const answer = await session.post({ jsonrpc: '2.0', id: 1, method, params });
  expect(await answer.json()).toMatchObject({ id: 1, result: {} });
};

describe('a session whose process is killed', () => {
  it('goes on with the same id: its log level, its subscription, and calls that begin after (B3-10)', async () => {
    const session = await openSession(process);
    await ask(session, 'logging/setLevel', { level: 'error' });
    await ask(session, 'resources/subscribe', { uri: 'test://a' });
    await restart();
    const stream = await session.listen();
    await session.call('log', { level: 'info', data: 'too low' });
    await session.call('update', { uri: 'test://b' });
    await session.call('update', { uri: 'test://a' });
    await session.call('log', { level: 'error', data: 'high' });
    expect((await stream.until(() => true)).message).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'test://a' },
    });
    expect((await stream.until(() => true)).message).toMatchObject(logOf('high'));
    expect(await session.call('echo', { said: 'after' })).toMatchObject({
      result: { content: [{ text: 'after' }] },
    });
  });

  it('brings the events a client missed, those nobody had heard too, each once (B3-09)', async () => {
    const session = await openSession(process);
    const stream = await session.listen();
    await session.call('log', { level: 'error', data: 'one' });
    await session.call('log', { level: 'error', data: 'two' });
    const { id: first } = await stream.until(isLog('one'));
    await stream.until(isLog('two'));
    stream.leave();
    await session.call('log', { level: 'error', data: 'three' });
    // What nobody hears is kept behind the back of who says it.
    await sleep(300);
    await restart();

    const resumed = await session.listen(first ?? '');
    await session.call('log', { level: 'error', data: 'four' });
    const heard: unknown[] = [];
    await resumed.until((message) => {
      heard.push(message.params?.data);
      return message.params?.data === 'four';
    });
    expect(heard).toEqual(['two', 'three', 'four']);
  });

  it('answers the call that ran with an error, once, and never runs it again (T-127)', async () => {
    const session = await openSession(process);
    const stream = await session.postForStream(
      toolCall(7, 'slow', { label: 'killed', ms: 60_000 }, { progressToken: 1 }),
    );
    const { id } = await stream.until(({ method }) => method === 'notifications/progress');
    await restart();
    await stream.rest();

    const resumed = await session.listen(id ?? '');
    const events = (await resumed.rest()).filter(({ message }) => message);
    expect(events.map(({ message }) => message)).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32603, message: expect.stringContaining('restarted') } },
    ]);
    const answered = events[0]?.id ?? '';
    expect(await (await session.listen(id ?? '')).rest()).toEqual(events);
    const over = await session.listen(answered);
    expect([over.response.status, await over.rest()]).toEqual([204, []]);
    expect(process.runs().filter((label) => label === 'killed')).toHaveLength(1);
    expect(await session.call('slow', { label: 'later', ms: 1 })).toMatchObject({
      result: { content: [{ text: 'later' }] },
    });
  });
});
