import { describe, expect, it } from 'vitest';
import { startOneForAll, versions } from './support/one-for-all.ts';
import { makeV2, nothingSeen } from './support/servers.ts';
import { openTalk, startConversations } from './support/talk.ts';

describe.each(versions)('one server for all (SDK %s)', (_version, make) => {
  it('is made again after it closed', async () => {
    const { conversations, seen } = startOneForAll(make);
    const [ann, bob] = await Promise.all([openTalk(conversations), openTalk(conversations)]);
    void ann.call('break').catch(() => undefined);
    await expect.poll(() => [ann.hasEnded(), bob.hasEnded()], { interval: 1 }).toEqual([true, true]);
    const again = await openTalk(conversations);
    expect([await again.call('echo', { text: 'back' }), seen.made]).toEqual(['back', 2]);
  });

  it('is closed with all its conversations, which hear nothing of it', async () => {
    const { conversations, seen } = startOneForAll(make);
    const ann = await openTalk(conversations);
    await conversations.close();
    expect([seen.closed, ann.hasEnded(), ann.heard]).toEqual([1, false, []]);
  });
});

describe('what a factory of a shared server gives', () => {
  it('has its failure told to who opens, and is asked again', async () => {
    let tries = 0;
    const conversations = startConversations('shared', () => {
      tries++;
      if (tries === 1) throw new Error('no database');
      return makeV2(nothingSeen());
    });
    await expect(openTalk(conversations)).rejects.toThrow('no database');
    expect(await (await openTalk(conversations)).call('echo', { text: 'x' })).toBe('x');
  });

  it('is refused where it is no MCP server', async () => {
    await expect(openTalk(startConversations('shared', () => ({ connect() {} })))).rejects.toThrow(
      'no MCP server',
    );
  });
});

describe('a server that was brought ready-made', () => {
  it('is connected once, and cannot be made again after it closed', async () => {
    const server = makeV2(nothingSeen());
    const conversations = startConversations('single', () => server);
    const ann = await openTalk(conversations);
    await openTalk(conversations);
    await server.close();
    expect(ann.hasEnded()).toBe(true);
    await expect(openTalk(conversations)).rejects.toThrow('cannot be made again');
  });

  it.each(versions)('says what to do where it is connected already (SDK %s)', async (_version, make) => {
    const server = make(nothingSeen());
    await openTalk(startConversations('single', () => server));
    await expect(openTalk(startConversations('single', () => server))).rejects.toThrow(
      'connected to another transport already. Bring one that is not connected',
    );
  });
});
