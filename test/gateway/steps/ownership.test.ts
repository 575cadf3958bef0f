import { describe, expect, it, onTestFinished } from 'vitest';
import { withSteps } from '../../../src/gateway/steps/with-steps.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type Heard, openTalk } from '../../mcp/sdk/support/talk.ts';
import { createOwners, mostTasks, ownership } from './support/owners.ts';
import { type Answers, RawServer } from './support/raw-server.ts';
import { stepped } from './support/stepped.ts';

const unknownTask = { code: -32602, message: 'Invalid params: unknown task.' };
const related = (taskId: unknown) => ({ _meta: { 'io.modelcontextprotocol/related-task': { taskId } } });

/** A server that makes a task of each call, with the ids t1, t2 …, or the one that a call names. */
function tasking(): Answers {
  const made: string[] = [];
  return {
    'tools/call': ({ params = {} }) => {
      const named = (params.arguments as { id?: unknown } | undefined)?.id;
      const taskId = named === undefined ? `t${made.length + 1}` : named;
      made.push(String(taskId));
      return {
        result:
          params.task === undefined ? { content: [] } : { task: { taskId, status: 'working', ttl: 1000 } },
      };
    },
    'tasks/list': () => ({
      result: { tasks: [...made.map((taskId) => ({ taskId })), {}, 7], nextCursor: 'more' },
    }),
    'tasks/get': ({ params }) => ({ result: { taskId: params?.taskId, status: 'completed' } }),
    'tasks/result': ({ params }) => ({ result: { content: [], ...related(params?.taskId) } }),
    'tasks/cancel': ({ params }) => ({ result: { taskId: params?.taskId, status: 'cancelled' } }),
    'resources/subscribe': ({ params }) =>
      params?.uri === 'note://no' ? { error: { code: 1, message: '' } } : { result: {} },
    'resources/unsubscribe': () => ({ result: {} }),
  };
}

const makeTask = { name: 'work', arguments: {}, task: { ttl: 1000 } };

describe('a task', () => {
  it('A task is listed and used by its maker alone, and is unknown to everybody else (FA-03, T-203)', async () => {
    const { talk, server } = stepped([ownership()], tasking());
    const [ann, bob] = [await talk(), await talk({ subject: 'bob' })];
    expect((await ann.ask('tools/call', makeTask)).result).toMatchObject({ task: { taskId: 't1' } });
    await bob.ask('tools/call', makeTask);
    expect((await ann.ask('tasks/list')).result?.tasks).toEqual([{ taskId: 't1' }]);
    expect((await bob.ask('tasks/list')).result?.tasks).toEqual([{ taskId: 't2' }]);
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update', 'tasks/whatever'])
      for (const taskId of ['t1', 'no such task', ['t2'], 2, null, undefined, 'x'.repeat(2000)])
        expect((await bob.ask(method, { taskId })).error).toEqual(unknownTask);
    expect(
      server.heard.filter(({ method }) => method?.startsWith('tasks/') && method !== 'tasks/list'),
    ).toEqual([]);
    expect((await ann.ask('tasks/result', { taskId: 't1' })).result).toBeDefined();
  });

  it('A request that says it belongs to a task of somebody else is refused (T-203)', async () => {
    const { talk, server } = stepped([ownership()], tasking());
    const [ann, bob] = [await talk(), await talk({ subject: 'bob' })];
    await ann.ask('tools/call', makeTask);
    const calls = server.requests('tools/call').length;
    for (const taskId of ['t1', 7]) {
      expect((await bob.ask('tools/call', { name: 'x', ...related(taskId) })).error).toEqual(unknownTask);
      bob.say({
        method: 'notifications/progress',
        params: { progressToken: 1, progress: 1, ...related(taskId) },
      });
    }
    expect(server.requests('tools/call')).toHaveLength(calls);
    expect(server.heard.filter(({ method }) => method === 'notifications/progress')).toEqual([]);
    expect((await ann.ask('tools/call', { name: 'x', ...related('t1') })).result).toBeDefined();
  });

  it('A task id that cannot be read, or that is another caller’s, is handed out to nobody (T-203)', async () => {
    const { talk, server } = stepped([ownership()], tasking());
    const [ann, bob] = [await talk(), await talk({ subject: 'bob' })];
    await ann.ask('tools/call', makeTask);
    for (const id of ['t1', 7, null, { a: 1 }, 'x'.repeat(2000)])
      expect((await bob.ask('tools/call', { ...makeTask, arguments: { id } })).error?.code).toBe(-32603);
    expect(server.requests('tasks/cancel')).toEqual([]);
  });

  it('A caller has no more tasks than the bound: one more is cancelled, and not handed out (T-203)', async () => {
    const { talk, server } = stepped([ownership()], tasking());
    const { ask } = await talk();
    for (let count = 0; count < mostTasks; count++) await ask('tools/call', makeTask);
    expect((await ask('tools/call', makeTask)).error?.message).toMatch(/too many tasks/);
    expect((await server.hears(({ method }) => method === 'tasks/cancel')).params).toEqual({ taskId: 't3' });
  });

  it('A task ends with the grant: it is cancelled at the server, and a result that was waited for is not given (T-203)', async () => {
    const owners = createOwners();
    const answers = tasking();
    const { talk, server } = stepped([ownership({ owners })], {
      ...answers,
      'tasks/result': () => undefined,
    });
    const { ask } = await talk();
    await ask('tools/call', makeTask);
    const result = ask('tasks/result', { taskId: 't1' });
    const { id } = await server.hears(({ method }) => method === 'tasks/result');
    owners.end('ann');
    expect((await server.hears(({ method }) => method === 'tasks/cancel')).params).toEqual({ taskId: 't1' });
    server.say({ id, result: { content: [{ type: 'text', text: 'too late' }] } });
    expect((await result).error).toEqual(unknownTask);
    expect((await ask('tasks/get', { taskId: 't1' })).error).toEqual(unknownTask);
  });
});

describe('a cursor', () => {
  const paged: Answers = {
    'tools/list': ({ params }) => ({
      result: { tasks: [], tools: [], asked: params?.cursor, nextCursor: 'page 2' },
    }),
    'things/list': ({ params }) => ({ result: { asked: params?.cursor, nextCursor: 'thing 2' } }),
    'prompts/list': () => ({ result: { prompts: [], nextCursor: '' } }),
    'resources/list': () => ({ result: { resources: [], nextCursor: 12 } }),
  };

  it('A cursor is good for the caller, list and route it was made for, and for no other (FA-03, T-203)', async () => {
    const { talk, server } = stepped([ownership()], paged);
    const [ann, bob] = [await talk(), await talk({ subject: 'bob' })];
    const cursor = (await ann.ask('tools/list')).result?.nextCursor;
    expect(cursor).not.toBe('page 2');
    expect((await ann.ask('tools/list', { cursor })).result?.asked).toBe('page 2');
    const asked = server.heard.length;
    const elsewhere = stepped([ownership({ route: 'files' })], paged);
    const refused = [
      await bob.ask('tools/list', { cursor }),
      await ann.ask('things/list', { cursor }),
      await (await elsewhere.talk()).ask('tools/list', { cursor }),
      await ann.ask('tools/list', { cursor: 'page 2' }),
      await ann.ask('tools/list', { cursor: ['page 2'] }),
      await ann.ask('tools/list', { cursor: null }),
    ];
    for (const { error } of refused) expect(error).toMatchObject({ code: -32602, message: /unknown cursor/ });
    expect(server.heard).toHaveLength(asked);
  });

  it('A cursor that a backend repeats stays the same for its caller, so that readers of lists stop there (FA-03, T-203)', async () => {
    const ann = await stepped([ownership()], paged).talk();
    const cursor = (await ann.ask('tools/list')).result?.nextCursor;
    expect((await ann.ask('tools/list', { cursor })).result?.nextCursor).toBe(cursor);
  });

  it('A cursor of a grant that has ended is unknown, and so is one of the day before (T-203)', async () => {
    let now = 1000;
    const { talk } = stepped([ownership({ now: () => now })], paged);
    const sender = (grantId: string) => ({
      sender: {
        authInfo: {
          issuer: 'i',
          subject: 's',
          clientId: 'c',
          scopes: [],
          audience: 'a',
          expiresAt: 1,
          grantId,
        },
      },
    });
    const [first, second] = [await talk(sender('one')), await talk(sender('two'))];
    const cursor = (await first.ask('things/list')).result?.nextCursor;
    expect((await second.ask('things/list', { cursor })).error?.code).toBe(-32602);
    now += 86_400;
    expect((await first.ask('things/list', { cursor })).result?.asked).toBe('thing 2');
    now += 1;
    expect((await first.ask('things/list', { cursor })).error?.code).toBe(-32602);
  });

  it('An empty cursor stays as it is, and one that is no text is left out', async () => {
    const { talk } = stepped([ownership()], paged);
    const { ask } = await talk();
    expect((await ask('prompts/list')).result).toEqual({ prompts: [], nextCursor: '' });
    expect((await ask('prompts/list', { cursor: '' })).result).toBeDefined();
    expect((await ask('resources/list')).result).toEqual({ resources: [] });
  });
});

describe('a message of the server', () => {
  const uriOf = ({ method, params }: Heard): unknown =>
    method === 'notifications/resources/updated' ? params?.uri : undefined;
  const updated = (uri: unknown) => ({ method: 'notifications/resources/updated', params: { uri } });

  it('An update reaches only a connection that subscribed to the resource, or to one above it (FA-03, T-203)', async () => {
    const { talk, server } = stepped([ownership()], tasking(), 'each');
    const { ask, heard, hears } = await talk();
    await ask('resources/subscribe', { uri: 'note://a' });
    await ask('resources/subscribe', { uri: 'note://no' });
    await ask('resources/subscribe', { uri: 'note://gone' });
    await ask('resources/unsubscribe', { uri: 'note://gone' });
    for (const uri of [
      'note://b',
      'note://no',
      'note://gone',
      'note://ab',
      ['note://a'],
      'note://a',
      'note://a/1',
    ])
      server.say(updated(uri));
    await hears((message) => uriOf(message) === 'note://a/1');
    expect(heard.map(uriOf).filter((uri) => uri !== undefined)).toEqual(['note://a', 'note://a/1']);
  });

  it('News of a task reach its maker alone, and what belongs to another’s task is asked of nobody (T-203)', async () => {
    const server = new RawServer(tasking());
    const logger = createLogger('silent');
    const source = withSteps({ sharing: 'each', create: () => server }, [ownership()], logger);
    const conversations = createConversations({ source, logger });
    onTestFinished(() => conversations.close());
    const ann = await openTalk(conversations, { capabilities: { elicitation: {} } });
    await ann.ask('tools/call', makeTask);
    for (const taskId of ['t9', ['t1'], undefined, 't1'])
      server.say({ method: 'notifications/tasks/status', params: { taskId, status: 'working' } });
    await ann.hears(({ method }) => method === 'notifications/tasks/status');
    expect(ann.heard.filter(({ method }) => method === 'notifications/tasks/status')).toHaveLength(1);
    server.say({ id: 'q', method: 'elicitation/create', params: { message: 'secret', ...related('t9') } });
    expect(await server.hears(({ id }) => id === 'q')).toMatchObject({ error: { code: -32602 } });
    expect(ann.heard.some(({ method }) => method === 'elicitation/create')).toBe(false);
  });

  it('On a connection that several clients share, nobody hears of tasks, and no client tells of them (T-203)', async () => {
    const { talk, server } = stepped([ownership({ sharesConnections: true })], tasking(), 'account');
    const ann = await talk();
    await ann.ask('tools/call', makeTask);
    server.say({ method: 'notifications/tasks/status', params: { taskId: 't1', status: 'working' } });
    ann.say({ method: 'notifications/tasks/status', params: { taskId: 't1', status: 'failed' } });
    await ann.ask('tasks/get', { taskId: 't1' });
    expect(ann.heard.some(({ method }) => method === 'notifications/tasks/status')).toBe(false);
    expect(server.heard.some(({ method }) => method === 'notifications/tasks/status')).toBe(false);
  });

  it('The end of an elicitation by URL reaches only the connection on which it began (T-203)', async () => {
    const { talk, server } = stepped([ownership()], tasking(), 'each');
    const { ask, heard, hears } = await talk({ capabilities: { elicitation: { url: {} } } });
    const params = { mode: 'url', url: 'https://e.example', message: 'm', elicitationId: 'mine' };
    server.say({ id: 'q', method: 'elicitation/create', params });
    for (const elicitationId of ['another', 'mine', 'mine'])
      server.say({ method: 'notifications/elicitation/complete', params: { elicitationId } });
    await hears(({ method }) => method === 'notifications/elicitation/complete');
    await ask('tasks/list');
    expect(
      heard
        .filter(({ method }) => method === 'notifications/elicitation/complete')
        .map(({ params: told }) => told),
    ).toEqual([{ elicitationId: 'mine' }]);
  });
});
