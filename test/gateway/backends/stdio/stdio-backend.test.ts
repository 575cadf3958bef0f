import { describe, expect, it, vi } from 'vitest';
import { createStdioBackend } from '../../../../src/gateway/backends/stdio/stdio-backend.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { startProgram } from './support/program.ts';

describe('a backend', () => {
  const logger = createLogger('silent');

  it('is refused where it may have no process, or is to be given what is not set', () => {
    expect(() => createStdioBackend('a', { command: 'true', maxProcesses: 0 }, { logger })).toThrow(
      RangeError,
    );
    expect(() => createStdioBackend('a', { command: 'true', env: ['NOT_SET_ANYWHERE'] }, { logger })).toThrow(
      'The environment has no NOT_SET_ANYWHERE',
    );
  });

  it('starts nothing before it is needed', () => {
    const backend = createStdioBackend('a', { command: '/nowhere' }, { logger });
    void backend.source.create({ era: 'legacy' });
    expect(backend.status()).toEqual({ kind: 'stdio', state: 'idle', processes: 0, failures: { count: 0 } });
    backend.close();
  });

  it('is refused if a variable is set twice', () => {
    const caller = { env: { WHO: 'email' } } as const;
    for (const env of [['WHO'], { WHO: 'fixed' }])
      expect(() => createStdioBackend('a', { command: 'true', env, caller }, { logger })).toThrow(
        'The variable WHO is set twice',
      );
  });

  it('is refused where what one person has would go to everybody (T-158)', () => {
    const credentials = { find: () => Promise.resolve({}), onChange: () => () => undefined };
    expect(() =>
      createStdioBackend('a', { command: 'true', process: 'shared', credentials }, { logger }),
    ).toThrow('process: "shared" is for programs without personal credentials and folders');
    const caller = { env: { WHO: 'email' } } as const;
    expect(() => createStdioBackend('a', { command: 'true', process: 'shared', caller }, { logger })).toThrow(
      'caller.env: a process that everybody shares cannot have variables of one caller',
    );
  });
});

describe('a process', () => {
  it('of an account serves all its sessions, and no other account (T-158)', async () => {
    const { open, backend } = startProgram({ process: 'account' });
    const talks = await Promise.all(['ann', 'ann', 'bob'].map((subject) => open({ subject })));
    const [ann, again, bob] = await Promise.all(talks.map(async (talk) => (await talk.tool('echo')).pid));
    expect(again).toBe(ann);
    expect(bob).not.toBe(ann);
    expect(backend.status()).toMatchObject({ state: 'running', processes: 2 });
  });

  it('of everybody is told that its client can do nothing, and what it asks is refused (T-158)', async () => {
    const { open, backend } = startProgram({ process: 'shared' });
    const all = { roots: {}, sampling: {}, elicitation: {} };
    const [ann, bob] = [
      await open({ subject: 'ann', capabilities: all }),
      await open({ subject: 'bob', capabilities: all }),
    ];
    const told = await ann.tool('told');
    expect(told.capabilities).toEqual({});
    expect((await bob.tool('told')).pid).toBe(told.pid);
    expect(backend.status().processes).toBe(1);
    for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create'])
      await ann.tool('ask', { method });
    expect((await ann.tool('told')).answers).toEqual(['refused', 'refused', 'refused']);
    for (const { heard } of [ann, bob])
      expect(heard.filter(({ id, method }) => id !== undefined && method !== undefined)).toEqual([]);
  });

  it('of everybody tells all of changed lists, subscribers of their resources, and nobody anything else (T-158)', async () => {
    const { open } = startProgram({ process: 'shared' });
    const [ann, bob] = [await open({ subject: 'ann' }), await open({ subject: 'bob' })];
    await bob.ask('resources/subscribe', { uri: 'of:bob' });
    await ann.tool('announce', { uri: 'of:bob', secret: 'of ann' }, { progressToken: 'mine' });
    const heard = (talk: typeof ann): unknown[] =>
      talk.heard.flatMap(({ method }) => (method === undefined ? [] : [method]));
    await bob.tool('echo');
    expect(heard(ann)).toEqual(['notifications/tools/list_changed']);
    expect(heard(bob)).toEqual(['notifications/tools/list_changed', 'notifications/resources/updated']);
  });

  it('of everybody carries progress to the call whose token it names, whatever the clients chose (T-158)', async () => {
    const { open } = startProgram({ process: 'shared' });
    const talks = await Promise.all(['ann', 'bob', 'cy'].map((subject) => open({ subject })));
    await Promise.all(talks.map((talk) => talk.tool('steps', {}, { progressToken: 1 })));
    for (const { heard } of talks)
      expect(heard.flatMap(({ method, params }) => (method ? [params] : []))).toEqual(
        [1, 2, 3].map((progress) => ({ progressToken: 1, progress })),
      );
  });

  it('of everybody has no tasks and no log: they are a person’s own (T-158)', async () => {
    const { open } = startProgram({ process: 'shared' });
    const talk = await open();
    expect(Object.keys(talk.result.capabilities as object).sort()).toEqual(['resources', 'tools']);
    for (const method of ['tasks/list', 'tasks/get', 'logging/setLevel'])
      expect(await talk.ask(method, { taskId: 'x', level: 'info' })).toMatchObject({
        error: { code: -32601 },
      });
  });
});

describe('a spare process', () => {
  it('is there before anybody comes, is one’s own, and counts among the most there may be', async () => {
    const { open, backend } = startProgram({ spare: 1, maxProcesses: 3 });
    await vi.waitFor(() => expect(backend.status().processes).toBe(1));
    const [ann, bob] = [await open({ subject: 'ann' }), await open({ subject: 'bob' })];
    const pids = [(await ann.tool('echo')).pid, (await bob.tool('echo')).pid];
    expect(new Set(pids).size).toBe(2);
    await vi.waitFor(() => expect(backend.status().processes).toBe(3), { timeout: 5000 });
    await expect(open({ subject: 'cy' })).rejects.toThrow('All 2 processes');
  });

  it('is refused where processes differ by account, or there is no place for it', () => {
    const credentials = { find: () => Promise.resolve({}), onChange: () => () => undefined };
    const logger = createLogger('silent');
    expect(() => createStdioBackend('a', { command: 'true', spare: 1, credentials }, { logger })).toThrow(
      'spare:',
    );
    expect(() => createStdioBackend('a', { command: 'true', spare: 1, maxProcesses: 1 }, { logger })).toThrow(
      'maxProcesses: must be a whole number from 2',
    );
  });
});

describe('a program that takes too much', () => {
  it('of the processor, of memory or of processes is ended, its caller hears so, and others go on (T-155)', async () => {
    const limits = { cpuSeconds: 1, memoryMegabytes: 1500, processes: 30 };
    const { open } = startProgram({ limits });
    const bob = await open({ subject: 'bob' });
    for (const greed of ['spin', 'grow', 'fork']) {
      const ann = await open({ subject: `ann ${greed}` });
      expect(await ann.tool(greed)).toMatchObject({ data: { reason: 'backend_ended' } });
      expect(await bob.tool('echo', { text: greed })).toHaveProperty('said', greed);
    }
  });
});
