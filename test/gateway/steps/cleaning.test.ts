import { describe, expect, it } from 'vitest';
import { createCleaning } from '../../../src/gateway/steps/cleaning.ts';
import type { Passing } from '../../../src/gateway/steps/step.ts';
import { stepped } from './support/stepped.ts';

const esc = '\u001b[31m';
const told: unknown[] = [];
const step = () =>
  createCleaning('Notes', { warn: (fields: unknown, why?: unknown) => void told.push([fields, why]) });

const answers = {
  initialize: () => ({
    result: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, experimental: { 'a\u200b': {}, b: { note: `c${esc}` } } },
      serverInfo: { name: 'raw', version: '1', title: `R${esc}aw`, websiteUrl: 'javascript:alert(1)' },
      instructions: `Use${esc} it.`,
    },
  }),
  'tools/list': () => ({
    result: {
      _meta: { a: `b${esc}`, c: 1 },
      tools: [
        { name: 'read', description: `Reads${esc}.`, icons: [{ src: 'javascript:alert(1)' }] },
        { name: 're\u200bad', description: 'Looks like the other.' },
        { name: 'write', inputSchema: { type: 'object', properties: { 'a\u202e': {} } } },
        { name: 'hide', inputSchema: { type: 'object', properties: { a: { enum: ['b\u200b'] } } } },
        { name: 'page', _meta: { ui: { resourceUri: 'javascript:alert(1)' } } },
        { name: 'huge', description: 'x'.repeat(300_000) },
      ],
    },
  }),
  'prompts/list': () => ({
    result: {
      prompts: [
        { name: 'a', arguments: [{ name: 'b\u0007' }] },
        { name: 'c', description: `d${esc}`, arguments: [{ name: 'e', description: `f${esc}` }] },
      ],
    },
  }),
  'prompts/get': () => ({
    result: {
      description: `d${esc}`,
      messages: [
        { role: 'user', content: { type: 'text', text: esc } },
        { role: 'user', content: { type: 'resource_link', uri: 'javascript:alert(1)', name: 'x' } },
      ],
    },
  }),
  'resources/list': () => ({
    result: {
      resources: [
        { uri: 'a:\u200b', name: 'a' },
        { uri: 'b:', name: 'b', title: `t${esc}` },
        { uri: 'c:', name: `n${esc}` },
      ],
    },
  }),
  'resources/templates/list': () => ({
    result: {
      resourceTemplates: [
        { uriTemplate: 'a:{b}\u200b', name: 'a' },
        { uriTemplate: 'c:{d}', name: 'c', title: `t${esc}` },
      ],
    },
  }),
  'completion/complete': () => ({ result: { completion: { values: ['a', `b${esc}`, 5], total: 3 } } }),
  'tools/call': () => ({
    result: {
      content: [
        { type: 'text', text: esc },
        { type: 'resource_link', uri: 'a:', name: 'a', title: `t${esc}`, icons: [{ src: 'javascript:x' }] },
        { type: 'resource_link', uri: 'javascript:x', name: 'b' },
      ],
    },
  }),
  'resources/read': () => ({
    error: {
      code: -32042,
      message: `No${esc}ne`,
      data: {
        note: `a${esc}`,
        elicitations: ['javascript:alert(1)', 'ms-msdt:/id', 'https://example.com/'].map((url) => ({ url })),
      },
    },
  }),
};

describe('what a server says of what it offers', () => {
  it('is clean, and what has a name or value that is not is left out and told in the log (T-160, FA-08, T-211)', async () => {
    const { talk } = stepped([step()], answers, 'each');
    const { ask, result } = await talk();
    expect(result).toMatchObject({
      serverInfo: { name: 'raw', version: '1', title: 'Raw' },
      instructions: 'Use it.',
      capabilities: { tools: {}, experimental: { b: {} } },
    });
    expect(JSON.stringify(result)).not.toMatch(/javascript|\\u001b|\u200b/);
    expect((await ask('tools/list')).result).toEqual({
      _meta: { c: 1 },
      tools: [{ name: 'read', description: 'Reads.' }],
    });
    expect((await ask('prompts/list')).result).toEqual({
      prompts: [{ name: 'c', description: 'd', arguments: [{ name: 'e', description: 'f' }] }],
    });
    expect((await ask('resources/list')).result).toEqual({
      resources: [{ uri: 'b:', name: 'b', title: 't' }],
    });
    expect((await ask('resources/templates/list')).result).toEqual({
      resourceTemplates: [{ uriTemplate: 'c:{d}', name: 'c', title: 't' }],
    });
    const why = (text: string) => expect.stringContaining(text);
    expect(told).toEqual(
      expect.arrayContaining([
        [{ backend: 'Notes', kind: 'tool', name: 're\u{fffd}ad' }, why('characters nobody sees')],
        [{ backend: 'Notes', kind: 'tool', name: 'hide' }, why('characters nobody sees')],
        [{ backend: 'Notes', kind: 'tool', name: 'page' }, why('script')],
        [{ backend: 'Notes', kind: 'tool', name: 'huge' }, why('too large')],
        [{ backend: 'Notes', kind: 'tool', name: 'read' }, why('icons or links')],
        [{ backend: 'Notes', kind: 'server', name: '' }, why('icons or links')],
        [{ backend: 'Notes', kind: 'server', name: '' }, why('capabilities or _meta')],
      ]),
    );
  });

  it('names nothing that cannot be seen: using such a name finds nothing; results of tools stay as they are', async () => {
    const { talk, server } = stepped([step()], answers, 'each');
    const { ask } = await talk();
    expect((await ask('tools/call', { name: 're\u200bad' })).error?.code).toBe(-32602);
    expect((await ask('tools/call', { name: 'read' })).result?.content).toMatchObject([
      { type: 'text', text: esc },
      {},
    ]);
    expect(server.requests('tools/call')).toHaveLength(1);
  });

  it('is clean in links to resources that results bring, and in descriptions of prompts (T-211)', async () => {
    const { talk } = stepped([step()], answers, 'each');
    const { ask } = await talk();
    const { content } = (await ask('tools/call', { name: 'read' })).result as { content: unknown[] };
    expect(content.slice(1)).toEqual([{ type: 'resource_link', uri: 'a:', name: 'a', title: 't' }]);
    expect((await ask('prompts/get', { name: 'c' })).result).toEqual({
      description: 'd',
      messages: [{ role: 'user', content: { type: 'text', text: esc } }],
    });
    expect(told).toContainEqual([
      { backend: 'Notes', kind: 'link', name: 'javascript:x' },
      expect.stringContaining('script'),
    ]);
  });

  it('is clean in errors, and leaves out completions that are not (FA-08, T-211)', async () => {
    const { talk } = stepped([step()], answers, 'each');
    const { ask } = await talk();
    expect((await ask('resources/read', { uri: 'b:' })).error).toEqual({
      code: -32042,
      message: 'None',
      data: { note: 'a', elicitations: [{ url: 'https://example.com/' }] },
    });
    const params = { ref: { type: 'ref/prompt', name: 'c' }, argument: { name: 'e', value: '' } };
    expect((await ask('completion/complete', params)).result).toEqual({
      completion: { values: ['a'], total: 3 },
    });
  });
});

describe('what a server asks a client', () => {
  const cleaning = step();
  const relay = (method: string, params: object) =>
    cleaning.relay?.({ jsonrpc: '2.0', id: 1, method, params: params as Record<string, unknown> });

  it('is clean in messages, schemas and prompts of sampling (FA-08, T-211)', () => {
    const form = {
      message: `Your${esc} name?`,
      requestedSchema: {
        type: 'object',
        properties: { a: { type: 'string', title: `b${esc}`, enum: ['c'], enumNames: [`d${esc}`] } },
      },
    };
    expect(relay('elicitation/create', form)).toMatchObject({
      id: 1,
      params: {
        message: 'Your name?',
        requestedSchema: { properties: { a: { title: 'b', enum: ['c'], enumNames: ['d'] } } },
      },
    });
    const sampling = {
      systemPrompt: `a${esc}`,
      maxTokens: 5,
      messages: [
        { role: 'user', content: { type: 'text', text: `b${esc}` } },
        { role: 'user', content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
      ],
      tools: [{ name: 'c', description: `d${esc}` }],
    };
    expect(relay('sampling/createMessage', sampling)).toMatchObject({
      params: {
        systemPrompt: 'a',
        messages: [{ content: { text: 'b' } }, { content: [{ type: 'image', data: 'AA==' }] }],
        tools: [{ name: 'c', description: 'd' }],
      },
    });
  });

  it.each([
    ['notifications/progress', { progressToken: 1, message: `a${esc}` }, { progressToken: 1, message: 'a' }],
    ['notifications/message', { level: 'info', data: { b: [`a${esc}`] } }, { data: { b: ['a'] } }],
    ['notifications/message', { data: 'x'.repeat(300_000) }, { data: expect.stringContaining('too large') }],
    ['notifications/cancelled', { requestId: 1, reason: `a\u202e${esc}` }, { requestId: 1, reason: 'a' }],
    ['notifications/resources/updated', { uri: 'a:' }, { uri: 'a:' }],
  ])('or tells it is clean where people read it: %s (T-211)', (method, params, told) => {
    expect(step().relay?.({ jsonrpc: '2.0', method, params })).toMatchObject({ method, params: told });
  });

  it.each([
    ['elicitation/create', { message: 'a', requestedSchema: { properties: { 'b\u200b': {} } } }],
    ['elicitation/create', { message: 'a', requestedSchema: { properties: { b: { enum: ['c\u200b'] } } } }],
    ['elicitation/create', { mode: 'url', message: 'a', url: 'javascript:alert(1)', elicitationId: 'b' }],
    ['elicitation/create', { mode: 'url', message: 'a', url: 'http://example.com/', elicitationId: 'b' }],
    ['elicitation/create', { message: ['a'] }],
    ['elicitation/create', { message: 'x'.repeat(300_000) }],
    ['sampling/createMessage', { messages: [], tools: [{ name: 'a\u200b' }] }],
  ])('is refused to the server where it cannot be clean: %s %j (FA-08, T-211)', async (method, params) => {
    expect(relay(method, params)).toMatchObject({ refusal: { data: { reason: 'question_not_clean' } } });
  });

  it('reaches the client clean, or is answered with an error (FA-08, T-211)', async () => {
    const { talk, server } = stepped([step()], answers, 'each');
    const client = await talk({ capabilities: { elicitation: {} } });
    server.say({ id: 7, method: 'elicitation/create', params: { message: 'x', url: 'javascript:x' } });
    const refused = await server.hears(({ id, method }) => id === 7 && method === undefined);
    expect(refused).toMatchObject({ error: { code: -32602, data: { reason: 'question_not_clean' } } });
    expect(client.heard.some(({ method }) => method === 'elicitation/create')).toBe(false);
  });

  it('in a result of 2026-07-28 is clean, or the call fails (FA-08, T-211)', async () => {
    const ask = (params: object) =>
      step().answer(
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } },
        { era: 'modern' } as Passing,
        async () => ({
          result: {
            resultType: 'input_required',
            inputRequests: { q: { method: 'elicitation/create', params } },
            requestState: 's',
          },
        }),
      );
    expect(await ask({ message: `a${esc}` })).toEqual({
      result: {
        resultType: 'input_required',
        inputRequests: { q: { method: 'elicitation/create', params: { message: 'a' } } },
        requestState: 's',
      },
    });
    expect(await ask({ message: 'a', url: 'javascript:x' })).toMatchObject({ error: { code: -32602 } });
  });

  it('of itself with each result of 2026-07-28 is clean (T-211)', async () => {
    const key = 'io.modelcontextprotocol/serverInfo';
    const answer = await step().answer(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } },
      { era: 'modern' } as Passing,
      async () => ({ result: { content: [], _meta: { [key]: { name: `a${esc}`, version: '1' }, b: 1 } } }),
    );
    expect(answer.result?._meta).toEqual({ [key]: { name: 'a', version: '1' }, b: 1 });
  });
});
