import { describe, expect, it } from 'vitest';
import {
  finalEntry,
  finalError,
  finalResult,
  finalSaying,
  type ListKind,
  listKinds,
  ownRequest,
} from '../../../src/gateway/aggregate/renaming.ts';

const request = (method: string, params: Record<string, unknown>) => ({
  jsonrpc: '2.0' as const,
  id: 1,
  method,
  params,
});

describe('requests', () => {
  it.each([
    [
      'tools/call',
      { name: 'mem_read', arguments: { uri: 'mem+a:b' } },
      { name: 'read', arguments: { uri: 'mem+a:b' } },
    ],
    ['prompts/get', { name: 'mem_a_b' }, { name: 'a_b' }],
    ['resources/read', { uri: 'mem+file:///a' }, { uri: 'file:///a' }],
    ['resources/subscribe', { uri: 'mem+file:///a' }, { uri: 'file:///a' }],
    ['resources/unsubscribe', { uri: 'ui://mem+a' }, { uri: 'ui://a' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'mem_greet' }, argument: { name: 'a', value: 'b' } },
      { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'a', value: 'b' } },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'mem+a:///{b}' } },
      { ref: { type: 'ref/resource', uri: 'a:///{b}' } },
    ],
  ])('of %s reach the backend under its own names (C8-07)', (method, given, own) => {
    expect(ownRequest(request(method, given))).toEqual({ key: 'mem', request: request(method, own) });
  });

  it.each([
    ['tools/call', { name: 'read' }],
    ['tools/call', {}],
    ['resources/read', { uri: 7 }],
    ['completion/complete', { ref: null }],
    ['completion/complete', { ref: {} }],
    ['vendor/anything', { name: 'mem_read' }],
  ])('of %s without a name of anybody are nobody’s', (method, params) => {
    expect(ownRequest(request(method, params))).toBeUndefined();
  });
});

describe('what comes of a backend', () => {
  it('has its key in lists, and in the pages of tools', () => {
    const tool = {
      name: 'read',
      _meta: { ui: { resourceUri: 'ui://app', csp: 1 }, 'ui/resourceUri': 'ui://app', x: 2 },
    };
    expect(finalEntry('mem', listKinds.get('tools/list') as ListKind, tool)).toEqual({
      name: 'mem_read',
      _meta: { ui: { resourceUri: 'ui://mem+app', csp: 1 }, 'ui/resourceUri': 'ui://mem+app', x: 2 },
    });
    const template = { uriTemplate: 'a:///{b}', name: 'b' };
    expect(finalEntry('mem', listKinds.get('resources/templates/list') as ListKind, template)).toEqual({
      uriTemplate: 'mem+a:///{b}',
      name: 'b',
    });
    for (const broken of [null, 'read', {}, { name: 7 }])
      expect(finalEntry('mem', listKinds.get('prompts/list') as ListKind, broken)).toBeUndefined();
  });

  it('has it in every URI of a result', () => {
    const content = [
      { type: 'text', text: 'a:b' },
      { type: 'resource_link', uri: 'a:b', name: 'x' },
      { type: 'resource', resource: { uri: 'a:b', text: 't' } },
      null,
    ];
    const renamed = [
      { type: 'text', text: 'a:b' },
      { type: 'resource_link', uri: 'mem+a:b', name: 'x' },
      { type: 'resource', resource: { uri: 'mem+a:b', text: 't' } },
      null,
    ];
    expect(finalResult('mem', 'tools/call', { content, structuredContent: { uri: 'a:b' } })).toEqual({
      content: renamed,
      structuredContent: { uri: 'a:b' },
    });
    expect(finalResult('mem', 'prompts/get', { messages: [{ role: 'user', content: content[1] }] })).toEqual({
      messages: [{ role: 'user', content: renamed[1] }],
    });
    expect(finalResult('mem', 'resources/read', { contents: [{ uri: 'a:b' }] })).toEqual({
      contents: [{ uri: 'mem+a:b' }],
    });
    expect(finalResult('mem', 'tools/call', { content: 'broken' })).toEqual({ content: 'broken' });
  });

  it('has it in changes, log messages, and what its client is asked', () => {
    const said = (method: string, params: Record<string, unknown>) =>
      finalSaying('mem', { jsonrpc: '2.0', method, params }).params;
    expect(said('notifications/resources/updated', { uri: 'a:b' })).toEqual({ uri: 'mem+a:b' });
    expect(said('notifications/message', { data: 1 })).toEqual({ data: 1, logger: 'mem' });
    expect(said('notifications/message', { logger: 'db' })).toEqual({ logger: 'mem/db' });
    expect(said('notifications/progress', { uri: 'a:b' })).toEqual({ uri: 'a:b' });
    const block = { type: 'resource_link', uri: 'a:b' };
    const answered = { type: 'tool_result', content: [block] };
    expect(said('sampling/createMessage', { messages: [{ role: 'user', content: [answered] }] })).toEqual({
      messages: [{ role: 'user', content: [{ ...answered, content: [{ ...block, uri: 'mem+a:b' }] }] }],
    });
  });

  const pages = (uri: string) => ({
    ui: { resourceUri: uri, csp: 1 },
    'ui/resourceUri': uri,
    'openai/outputTemplate': uri,
    other: uri,
  });
  const [own, final] = [pages('ui://app'), { ...pages('ui://mem+app'), other: 'ui://app' }];
  const blocks = (meta: object, uri: string) => [
    { type: 'text', text: 'a', _meta: meta },
    { type: 'resource_link', uri, name: 'x', _meta: meta },
    { type: 'resource', resource: { uri, text: 't', _meta: meta }, _meta: meta },
    { type: 'tool_result', content: [{ type: 'text', text: 'a', _meta: meta }] },
  ];

  it.each([
    ['tools/call', (meta: object, uri: string) => ({ content: blocks(meta, uri), _meta: meta })],
    [
      'prompts/get',
      (meta: object, uri: string) => ({ messages: [{ content: blocks(meta, uri)[2] }], _meta: meta }),
    ],
    ['resources/read', (meta: object, uri: string) => ({ contents: [{ uri, _meta: meta }], _meta: meta })],
    ['completion/complete', (meta: object) => ({ completion: { values: [] }, _meta: meta })],
  ] as const)(
    'has it in the pages of a result of %s, wherever its _meta stands (FA-45)',
    (method, written) => {
      expect(finalResult('mem', method, written(own, 'a:b'))).toEqual(written(final, 'mem+a:b'));
    },
  );

  it('has it in the pages of tools and messages that a model is asked with (FA-45)', () => {
    const asked = (meta: object, uri: string) => ({
      messages: [{ role: 'user', content: blocks(meta, uri) }],
      tools: [{ name: 't', inputSchema: {}, _meta: meta }],
      _meta: meta,
    });
    const said = { jsonrpc: '2.0', method: 'sampling/createMessage' } as const;
    expect(finalSaying('mem', { ...said, params: asked(own, 'a:b') }).params).toEqual(
      asked(final, 'mem+a:b'),
    );
  });

  it('has it in an error about a resource (FA-45)', () => {
    const error = (data: unknown) => ({ code: -32002, message: 'Resource not found', data });
    expect(finalError('mem', error({ uri: 'a:b' }))).toEqual(error({ uri: 'mem+a:b' }));
    for (const other of [undefined, 'a:b', [1], { reason: 'backend_ended' }])
      expect(finalError('mem', error(other))).toEqual(error(other));
  });
});
