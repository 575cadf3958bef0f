import type { Transport } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpLike } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { type Door, doorNames, enter, openDoor } from './support/doors.ts';

/** Everything that reached the server. */
const reached: { method?: string; params?: unknown }[] = [];

/** A server that takes every message and answers every request, as a careless one does. */
function careless(): McpLike {
  let transport: Transport | undefined;
  return {
    async connect(given) {
      transport = given;
      given.onmessage = (message) => {
        const { id, method } = message as { id?: string | number; method?: string };
        if (method === undefined) return;
        const isBeginning = ['initialize', 'notifications/initialized', 'server/discover'].includes(method);
        if (!isBeginning) reached.push(message as (typeof reached)[number]);
        const result =
          method === 'initialize'
            ? {
                protocolVersion: '2025-11-25',
                capabilities: {
                  tools: {},
                  tasks: { list: {} },
                  extensions: { 'io.modelcontextprotocol/skills': {} },
                },
                serverInfo: { name: 'careless', version: '1' },
              }
            : { content: [] };
        if (id !== undefined) void given.send({ jsonrpc: '2.0', id, result });
      };
      await given.start();
    },
    async close() {
      await transport?.close();
    },
  };
}

let gatehouse: RunningGatehouse;
const doors = new Map<string, Door>();

beforeAll(async () => {
  gatehouse = await startGatehouse({
    server: {
      create: careless,
      scopes: { see: 'See.', admin: 'Everything.' },
      baselineScopes: ['see'],
      scopeRules: {
        tools: { delete_all: ['admin'] },
        prompts: { secret: ['admin'] },
        resources: { 'note://secret': ['admin'] },
        otherwise: ['see'],
      },
      methods: { 'x/admin': ['admin'], 'x/see': [] },
    },
  });
  const principal = await enter(gatehouse, { scopes: ['see'] });
  for (const name of doorNames) doors.set(name, await openDoor(gatehouse, name, principal));
});
afterAll(async () => {
  for (const door of doors.values()) door.close();
  await gatehouse.stop();
});

const argument = { name: 'a', value: '' };

describe.each(doorNames)('through the door %s', (name) => {
  const door = (): Door => doors.get(name) as Door;
  let lastId = 100;
  const codeOf = async (method: string, params?: Record<string, unknown>): Promise<unknown> => {
    reached.length = 0;
    const { error } = await door().ask(method, params, ++lastId);
    return (error as { code?: number } | undefined)?.code;
  };

  it.each<[string, Record<string, unknown>]>([
    ['tools/call', { name: ['delete_all'] }],
    ['tools/call', { name: { toString: 'delete_all' } }],
    ['tools/call', { name: 'see', arguments: ['x'] }],
    ['prompts/get', { name: ['secret'] }],
    ['resources/read', { uri: ['note://secret/a'] }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: ['secret'] }, argument }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: ['note://secret/a'] }, argument }],
    ['completion/complete', { ref: { type: 'ref/resource', name: 'note', uri: null }, argument }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'note://a', name: 'secret' }, argument }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'see', uri: 'note://secret/a' }, argument }],
    ['tools/call', JSON.parse('{"name":"see","__proto__":{"uri":"note://secret/a"}}')],
    ['tools/list', { cursor: ['c'] }],
  ])(
    '%s %j is refused with -32602, and nothing reaches the server (FA-01, T-200)',
    async (method, params) => {
      expect(await codeOf(method, params)).toBe(-32602);
      expect(reached).toEqual([]);
    },
  );

  it.each([
    'skills/list',
    'skills/get',
    'resources/directory/read',
    'events/list',
    'events/subscribe',
    'tasks/get',
    'tasks/list',
    'Tools/Call',
    'tools/call ',
    'tools//call',
    'x/run',
  ])('%s is refused with -32601, and nothing reaches the server (FA-02, FA-03, T-201)', async (method) => {
    // A header has no blank at its end: it says something else than the body. Which of the two is found first depends on
    // whether the node has met the server before.
    const codes = name === 'mcp 2026' && method !== method.trim() ? [-32020, -32601] : [-32601];
    const params = { name: 'delete_all', uri: 'note://secret/a', taskId: 't' };
    expect(codes).toContain(await codeOf(method, params));
    expect(reached).toEqual([]);
  });

  it('a method that was opened needs the scopes that were named for it, or those of the rest', async () => {
    expect(await codeOf('x/admin', {})).toBe(-32000);
    expect(reached).toEqual([]);
    expect(await codeOf('x/see', {})).toBeUndefined();
    expect(reached.map(({ method }) => method)).toEqual(['x/see']);
  });

  it('a notification that nobody knows goes nowhere (FA-02, T-201)', async () => {
    reached.length = 0;
    const { body, headers } = door().write('notifications/x', {});
    const { id: _none, ...notification } = JSON.parse(body);
    expect((await door().post(JSON.stringify(notification), headers)).status).toBe(202);
    expect(await codeOf('x/see', {})).toBeUndefined();
    expect(reached.map(({ method }) => method)).toEqual(['x/see']);
  });
});
