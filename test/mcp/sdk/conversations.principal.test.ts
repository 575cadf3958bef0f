import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Conversations, McpLike } from '../../../src/mcp/protocol.ts';
import { createPrincipalConversations } from '../../../src/mcp/sdk/conversations.ts';
import { anyCapabilities } from '../../../src/mcp/sdk/negotiation.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { callerNamed, openTalk } from './support/talk.ts';

type Said = { id?: number; method?: string; result?: unknown; error?: unknown };

/** A server in another process, played by the test: it says what it is told to, and not because of which call. */
class Elsewhere implements McpLike {
  closed = 0;
  readonly heard: Said[] = [];
  #transport: Transport | undefined;

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => {
      const { id, method } = message as Said;
      this.heard.push(message as Said);
      const serverInfo = { name: 'elsewhere', version: '1' };
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo };
      if (method === 'initialize') this.say({ id, result });
    };
  }

  say(message: Said & { params?: object }): void {
    void this.#transport?.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  }

  callIds(): number[] {
    return this.heard.flatMap(({ id, method }) => (method === 'tools/call' && id !== undefined ? [id] : []));
  }

  async close(): Promise<void> {
    this.closed++;
    await this.#transport?.close();
  }
}

function start(idleMs?: number): { conversations: Conversations; made: Elsewhere[] } {
  const made: Elsewhere[] = [];
  const create = (): Elsewhere => {
    const server = new Elsewhere();
    made.push(server);
    return server;
  };
  const conversations = createPrincipalConversations({
    source: { sharing: 'principal', create },
    logger: createLogger('silent'),
    ...(idleMs === undefined ? {} : { idleMs }),
  });
  onTestFinished(() => conversations.close());
  return { conversations, made };
}

const asksName = { id: 0, method: 'elicitation/create', params: { message: 'Name?', requestedSchema: {} } };

describe('conversations of principals', () => {
  it('share a server with those of the same principal, and with nobody else (T-127, T-158)', async () => {
    const { conversations, made } = start();
    await openTalk(conversations, { subject: 'ann' });
    await openTalk(conversations, { subject: 'ann' });
    await openTalk(conversations, { subject: 'bob' });
    expect(made).toHaveLength(2);
  });

  it('tell the server what the client can be asked; who can be asked something else has another one', async () => {
    const { conversations, made } = start();
    await openTalk(conversations, { subject: 'ann', capabilities: { elicitation: {} } });
    await openTalk(conversations, { subject: 'ann', capabilities: { elicitation: { form: {} } } });
    await openTalk(conversations, { subject: 'ann', capabilities: { elicitation: {}, roots: {} } });
    const told = made.map(({ heard }) => heard[0]);
    expect(told).toMatchObject([
      { method: 'initialize', params: { capabilities: { elicitation: {} } } },
      { method: 'initialize', params: { capabilities: { elicitation: {}, roots: {} } } },
    ]);
    expect(told[0]).not.toHaveProperty('params.capabilities.roots');
  });

  it('have our own requests answered by a server that is there', async () => {
    const { conversations, made } = start();
    await openTalk(conversations, { subject: 'ann', capabilities: { roots: {} } });
    await openTalk(conversations, { subject: 'ann', capabilities: anyCapabilities });
    expect(made).toHaveLength(1);
    await openTalk(conversations, { subject: 'bob', capabilities: anyCapabilities });
    expect(made).toHaveLength(2);
  });

  it('have what the server sends while one call runs go to that call, and to none where several run (T-127)', async () => {
    const { conversations, made } = start();
    const capabilities = { elicitation: {} };
    const one = await openTalk(conversations, { subject: 'ann', capabilities });
    const other = await openTalk(conversations, { subject: 'ann', capabilities });
    const [server] = made as [Elsewhere];
    one.say({ id: 1, method: 'tools/call', params: { name: 'a' } });
    server.say(asksName);
    const asked = await one.hears(({ method }) => method === 'elicitation/create');
    expect(asked).toMatchObject({ relatedTo: 1 });
    one.say({ id: asked.id, result: { action: 'decline' } });
    other.say({ id: 1, method: 'tools/call', params: { name: 'b' } });
    server.say({ ...asksName, id: 1 });
    await vi.waitFor(() => expect(server.heard.at(-1)).toMatchObject({ id: 1, error: { code: -32603 } }));
    expect(other.heard).toEqual([]);
    expect(one.heard.filter(({ method }) => method === 'elicitation/create')).toHaveLength(1);
  });

  it('are asked while another call waits for an answer that may never come, several things at once, too', async () => {
    const { conversations, made } = start();
    const capabilities = { elicitation: {} };
    const left = await openTalk(conversations, { subject: 'ann', capabilities });
    const goingOn = await openTalk(conversations, { subject: 'ann', capabilities });
    const [server] = made as [Elsewhere];
    left.say({ id: 1, method: 'tools/call', params: { name: 'a' } });
    server.say(asksName);
    await left.hears(({ method }) => method === 'elicitation/create');
    goingOn.say({ id: 7, method: 'tools/call', params: { name: 'b' } });
    server.say({ ...asksName, id: 1 });
    server.say({ ...asksName, id: 2 });
    await vi.waitFor(() => expect(goingOn.heard).toHaveLength(2));
    expect(goingOn.heard).toMatchObject([{ relatedTo: 7 }, { relatedTo: 7 }]);
    expect(left.heard).toHaveLength(1);
  });

  it('are asked for the call that may need input, while a list or a log level waits', async () => {
    const { conversations, made } = start();
    const capabilities = { elicitation: {} };
    const [listing, calling] = [
      await openTalk(conversations, { subject: 'ann', capabilities }),
      await openTalk(conversations, { subject: 'ann', capabilities }),
    ];
    listing.say({ id: 1, method: 'tools/list' });
    calling.say({ id: 7, method: 'tools/call', params: { name: 'a' } });
    made[0]?.say({ method: 'notifications/message', params: { level: 'error', data: 'of nobody' } });
    made[0]?.say(asksName);
    await calling.hears(({ method }) => method === 'elicitation/create');
    expect(calling.heard).toMatchObject([{ relatedTo: 7 }]);
    expect(listing.heard).toEqual([]);
  });

  it('never use the same id on two lines, so that an answer on the wrong one is nobody’s (T-158)', async () => {
    const { conversations, made } = start();
    const people = ['ann', 'bob'];
    const talks = await Promise.all(people.map((subject) => openTalk(conversations, { subject })));
    for (const talk of talks) talk.say({ id: 1, method: 'tools/call', params: { name: 'a' } });
    const [ann = NaN, bob = NaN] = made.flatMap((server) => server.callIds());
    expect(Math.abs(ann - bob)).toBeGreaterThan(10);
    expect([ann, bob].every(Number.isSafeInteger)).toBe(true);
    made[0]?.say({ id: bob, result: {} });
    made[0]?.say({ id: ann, result: {} });
    expect(await talks[0]?.hears(({ id }) => id === 1)).toMatchObject({ id: 1 });
    expect(talks[0]?.heard).toHaveLength(1);
  });

  it('keep their server for a while after the last has ended, then close it; the next has it made again', async () => {
    const { conversations, made } = start(50);
    const first = await openTalk(conversations, { subject: 'ann' });
    await first.conversation.end();
    const second = await openTalk(conversations, { subject: 'ann' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([made.length, made[0]?.closed]).toEqual([1, 0]);
    await second.conversation.end();
    await vi.waitFor(() => expect(made[0]?.closed).toBe(1));
    await openTalk(conversations, { subject: 'ann' });
    expect(made).toHaveLength(2);
  });

  it('end when their server does, and begin again with another', async () => {
    const { conversations, made } = start();
    const talk = await openTalk(conversations, { subject: 'ann' });
    await made[0]?.close();
    expect(talk.hasEnded()).toBe(true);
    await openTalk(conversations, { subject: 'ann' });
    expect(made).toHaveLength(2);
  });
});

it('A process of an account asks no client while calls of several clients run, whichever waits for an answer (FA-03, T-203)', async () => {
  const server = new Elsewhere();
  const conversations = createPrincipalConversations({
    source: { sharing: 'account', create: () => server },
    logger: createLogger('silent'),
  });
  onTestFinished(() => conversations.close());
  const sender = (clientId: string) => ({ sender: { authInfo: { ...callerNamed('ann'), clientId } } });
  const asked = { capabilities: { elicitation: {} } };
  const first = await openTalk(conversations, { ...asked, ...sender('one') });
  const second = await openTalk(conversations, { ...asked, ...sender('two') });
  const questions = ({ heard }: typeof first) =>
    heard.filter(({ method }) => method === 'elicitation/create');
  first.say({ id: 1, method: 'tools/call', params: { name: 'a' } });
  server.say(asksName);
  await first.hears(({ method }) => method === 'elicitation/create');
  second.say({ id: 1, method: 'tools/call', params: { name: 'b' } });
  server.say({ ...asksName, id: 7 });
  await vi.waitFor(() =>
    expect(server.heard.some(({ id, error }) => id === 7 && error !== undefined)).toBe(true),
  );
  expect([questions(first).length, questions(second).length]).toEqual([1, 0]);
});
