import { describe, expect, it } from 'vitest';
import {
  createServedMethods,
  type Era,
  isMethodOfMcp,
  type Side,
  withoutTask,
  withServedCapabilities,
} from '../../../src/mcp/reading/methods.ts';

const served = createServedMethods();
const open = createServedMethods({ 'tasks/get': ['tasks'], 'x/run': [], 'notifications/x': [] });

describe('the table of served methods', () => {
  it.each<[string, Side, Era[]]>([
    ['tools/call', 'client', ['legacy', 'modern']],
    ['initialize', 'client', ['legacy']],
    ['ping', 'client', ['legacy']],
    ['ping', 'server', ['legacy']],
    ['resources/subscribe', 'client', ['legacy']],
    ['server/discover', 'client', ['modern']],
    ['subscriptions/listen', 'client', ['modern']],
    ['sampling/createMessage', 'server', ['legacy', 'modern']],
    ['sampling/createMessage', 'client', []],
    ['tools/call', 'server', []],
    ['notifications/roots/list_changed', 'client', ['legacy', 'modern']],
    ['notifications/message', 'server', ['legacy', 'modern']],
    ['notifications/message', 'client', []],
  ])('lets %s of a %s pass in %j', (method, from, eras) => {
    const passing = (['legacy', 'modern'] as const).filter((era) => served.passes(method, from, era));
    expect(passing).toEqual(eras);
  });

  it.each([
    'skills/list',
    'skills/get',
    'resources/directory/read',
    'events/list',
    'events/subscribe',
    'tasks/get',
    'tasks/list',
    'tasks/result',
    'tasks/cancel',
    'Tools/Call',
    'tools/call ',
    ' tools/call',
    'tools//call',
    'tools/call\u0000',
    'tools\uff0fcall',
    'x/run',
    '__proto__',
    'constructor',
    'toString',
    'notifications/tasks/status',
    'notifications/x',
    '',
  ])('refuses %j of either side in either era (FA-02, T-201)', (method) => {
    for (const from of ['client', 'server'] as const)
      for (const era of ['legacy', 'modern'] as const) expect(served.passes(method, from, era)).toBe(false);
    expect(isMethodOfMcp(method)).toBe(false);
    expect(served.scopesOf(method)).toBeUndefined();
  });

  it('lets pass what was opened by its very name, and says what that needs', () => {
    expect(open.passes('x/run', 'client', 'legacy')).toBe(true);
    expect(open.passes('notifications/x', 'server', 'modern')).toBe(true);
    expect(open.passes('x/Run', 'client', 'modern')).toBe(false);
    expect(open.scopesOf('tasks/get')).toEqual(['tasks']);
    expect(open.scopesOf('x/run')).toEqual([]);
  });

  it('announces capabilities and extensions only of what passes (FA-13, T-202)', () => {
    const declared = {
      tools: {},
      tasks: { list: {} },
      experimental: { x: {} },
      'vendor/x': {},
      extensions: {
        'io.modelcontextprotocol/ui': {},
        'io.modelcontextprotocol/tasks': {},
        'io.modelcontextprotocol/skills': {},
        'com.example/x': {},
      },
    };
    expect(served.capabilities(declared)).toEqual({
      tools: {},
      extensions: { 'io.modelcontextprotocol/ui': {} },
    });
    const { extensions, ...others } = declared;
    const { 'io.modelcontextprotocol/skills': _skills, ...announced } = extensions;
    expect(open.capabilities(declared)).toEqual({ ...others, extensions: announced });
    expect(served.capabilities({ extensions: 'all' })).toEqual({});
  });

  it('gives the very object back if everything in it is served', () => {
    const declared = { tools: {}, sampling: {}, extensions: {} };
    expect(served.capabilities(declared)).toBe(declared);
  });

  it.each<[Era, Record<string, unknown>, boolean, boolean]>([
    ['modern', { content: [] }, true, true],
    ['modern', { resultType: 'complete' }, true, true],
    ['modern', { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } }, true, true],
    ['modern', { resultType: 'input_required', inputRequests: { a: { method: 'x/ask' } } }, false, false],
    ['modern', { resultType: 'input_required', inputRequests: [] }, false, false],
    ['modern', { resultType: 'task', taskId: 't' }, false, true],
    ['modern', { resultType: 'Complete' }, false, false],
    ['modern', { resultType: ['complete'] }, false, false],
    ['legacy', { content: [] }, true, true],
    ['legacy', { task: { taskId: 't' } }, false, true],
    ['legacy', { resultType: 'complete', content: [] }, true, true],
    ['legacy', { resultType: 'task', taskId: 't' }, false, true],
    ['legacy', { resultType: 'input_required' }, false, false],
    ['legacy', { content: [], task: { taskId: 't' } }, true, true],
  ])(
    'of %s knows the result %j: %s, with tasks open %s (FA-13, T-202)',
    (era, result, plainly, withTasks) => {
      expect([served.isKnownResult(result, era), open.isKnownResult(result, era)]).toEqual([
        plainly,
        withTasks,
      ]);
    },
  );

  it('leaves out the wish for a task, and what a client declares that is not served', () => {
    const request = {
      jsonrpc: '2.0' as const,
      id: 1,
      method: 'tools/call',
      params: { name: 'a', task: { ttl: 1 } },
    };
    expect(withoutTask(request).params).toEqual({ name: 'a' });
    const key = 'io.modelcontextprotocol/clientCapabilities';
    const declaring = (capabilities: object) => ({ ...request, params: { _meta: { [key]: capabilities } } });
    const plain = declaring({ sampling: {} });
    expect(withServedCapabilities(plain, served)).toBe(plain);
    const tasks = declaring({ extensions: { 'io.modelcontextprotocol/tasks': {} } });
    expect(withServedCapabilities(tasks, served)).toEqual(declaring({ extensions: {} }));
    expect(withServedCapabilities(tasks, open)).toBe(tasks);
  });
});
