import { describe, expect, it } from 'vitest';
import {
  createAllowedNames,
  createReadOnly,
  namePatterns,
} from '../../../src/gateway/steps/allowed-names.ts';
import { ToolDefinitions } from '../../../src/gateway/steps/tool-definitions.ts';
import { patience } from '../../support/patience.ts';
import { stepped } from './support/stepped.ts';

const all = { allow: ['*'], deny: [] };

const listed = {
  'tools/list': () => ({
    result: { tools: ['read_file', 'write_file', 'drop'].map((name) => ({ name })), nextCursor: 'c' },
  }),
  'prompts/list': () => ({ result: { prompts: [{ name: 'hello' }, { name: 'secret' }] } }),
  'resources/list': () => ({ result: { resources: [{ uri: 'a://1' }, { uri: 'b://1' }, {}] } }),
  'resources/templates/list': () => ({
    result: { resourceTemplates: [{ uriTemplate: 'a://{x}' }, { uriTemplate: 'b://{x}' }] },
  }),
};
const answers = {
  ...listed,
  'tools/call': () => ({ result: { content: [] } }),
  'prompts/get': () => ({ result: { messages: [] } }),
  'resources/read': () => ({ result: { contents: [] } }),
  'completion/complete': () => ({ result: { completion: { values: [] } } }),
};

describe('tools that may be called', () => {
  const rules = { tools: { allow: ['*_file'], deny: ['write_*'] }, prompts: all, resources: all };

  it('are listed, and no others; the cursor stays', async () => {
    const { talk } = stepped([createAllowedNames(rules)], answers);
    const { ask } = await talk();
    expect((await ask('tools/list')).result).toEqual({ tools: [{ name: 'read_file' }], nextCursor: 'c' });
  });

  it('are called; another is a tool nobody knows, and deny wins over allow', async () => {
    const { talk, server } = stepped([createAllowedNames(rules)], answers);
    const { ask } = await talk();
    expect((await ask('tools/call', { name: 'read_file' })).result).toBeDefined();
    for (const name of ['write_file', 'drop', 'unheard_of'])
      expect((await ask('tools/call', { name })).error).toEqual({
        code: -32602,
        message: `Tool ${name} not found`,
      });
    expect(server.requests('tools/call')).toHaveLength(1);
  });
});

describe('prompts and resources that may be used', () => {
  const rules = {
    tools: all,
    prompts: { allow: ['*'], deny: ['secret'] },
    resources: { allow: ['a://*'], deny: [] },
  };

  it('are listed, and no others', async () => {
    const { talk } = stepped([createAllowedNames(rules)], answers);
    const { ask } = await talk();
    expect((await ask('prompts/list')).result).toEqual({ prompts: [{ name: 'hello' }] });
    expect((await ask('resources/list')).result).toEqual({ resources: [{ uri: 'a://1' }] });
    expect((await ask('resources/templates/list')).result).toEqual({
      resourceTemplates: [{ uriTemplate: 'a://{x}' }],
    });
  });

  it.each([
    ['prompts/get', { name: 'hello' }, undefined],
    ['prompts/get', { name: 'secret' }, -32602],
    ['resources/read', { uri: 'a://1' }, undefined],
    ['resources/read', { uri: 'b://1' }, -32002],
    ['resources/subscribe', { uri: 'b://1' }, -32002],
    ['resources/read', { uri: 'a://x/%2e%2e/1' }, -32002],
    ['resources/read', { uri: ['a://1'] }, -32602],
    ['tools/call', { name: ['echo'] }, -32602],
    ['prompts/get', {}, -32602],
    ['completion/complete', { ref: { name: 'hello' } }, -32602],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'hello' } }, undefined],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'secret' } }, -32602],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'b://{x}' } }, -32002],
  ])('%s of %j answers with the error %s', async (method, params, code) => {
    const { talk } = stepped([createAllowedNames(rules)], answers, 'each');
    expect((await (await talk()).ask(method, params)).error?.code).toBe(code);
  });
});

it('what is denied is so however it is spelt, and nobody hears of it (FA-09, T-212)', async () => {
  const rules = {
    tools: all,
    prompts: all,
    resources: { allow: ['*'], deny: ['file:///secret/*', 'notes://secret/*'] },
  };
  const { talk, server } = stepped([createAllowedNames(rules)], answers, 'each');
  const { ask, heard } = await talk();
  for (const uri of [
    'file:///secret/1',
    'FILE:///s%65cret/1',
    'file:////secret/1',
    'file:///x/../secret/1',
    'notes://user@secret/1',
    'notes://secret:80/1',
    'notes://SECRET/1',
    'notes:///secret/1',
    'notes:////secret/1',
    'notes:\\\\secret\\1',
    'notes:secret/1',
    'notes://secret./1',
    'notes://secret;v=1/1',
    'notes://open/..;/secret/1',
    'notes://ſecret/1',
    'notes://%25252573ecret/1',
  ])
    expect((await ask('resources/read', { uri })).error?.code).toBe(-32002);
  expect((await ask('resources/read', { uri: 'file:///my docs/1' })).result).toBeDefined();
  for (const uri of ['file:///secret/1', 'file:///open/1'])
    server.say({ method: 'notifications/resources/updated', params: { uri } });
  await ask('resources/read', { uri: 'file:///open/1' });
  const told = heard.filter(({ method }) => method === 'notifications/resources/updated');
  expect(told.map(({ params }) => params?.uri)).toEqual(['file:///open/1']);
});

describe('a pattern of resources', () => {
  const code = async (resources: { allow: string[]; deny: string[] }, method: string, params: object) => {
    const { talk } = stepped([createAllowedNames({ tools: all, prompts: all, resources })], answers, 'each');
    return (await (await talk()).ask(method, { ...params })).error?.code;
  };
  const reads = (allow: string[], deny: string[], uri: string) =>
    code({ allow, deny }, 'resources/read', { uri });

  it('that allows does so only if every reading of the URI is allowed (FA-09)', async () => {
    expect(await reads(['a://pub*'], [], 'a://pub@secret/1')).toBe(-32002);
    expect(await reads(['a://pub/*'], [], 'a://pub/%252e%252e/secret')).toBe(-32002);
    for (const [allow, uri] of [
      ['pg://db:5432/*', 'pg://db:5432/t'],
      ['file:///My Files/*', 'file:///My Files/a%20b.txt'],
      ['*.md', 'a://b/c.md'],
      ['a://*', 'a://b/c?d=e.f'],
      ['*/open/*', 'file:///open/a'],
      ['A://B/*', 'A://B/c'],
    ] as const)
      expect(await reads([allow], [], uri), uri).toBeUndefined();
  });

  it('that denies does so for other spellings of a name at the end, and without a scheme (FA-09)', async () => {
    expect(await reads(['*'], ['*.env'], 'a://b/.env;v=1')).toBe(-32002);
    expect(await reads(['*'], ['*.env'], 'a://b/.env.')).toBe(-32002);
    expect(await reads(['*'], ['*/secret/*'], 'NOTE:s%65cret/b')).toBe(-32002);
    expect(await reads(['*'], ['note://secret'], 'note:///SECRET/')).toBe(-32002);
    expect(await reads(['*'], ['pg://db:5432/*'], 'pg://db:5433/t')).toBeUndefined();
  });

  it('that denies holds for templates as well (FA-09, T-212)', async () => {
    const rules = { allow: ['*'], deny: ['note://secret/*'] };
    const complete = (uri: string) =>
      code(rules, 'completion/complete', { ref: { type: 'ref/resource', uri } });
    expect(await complete('note:///SECRET/{id}')).toBe(-32002);
    expect(await complete('note://open/{+path}')).toBeUndefined();
  });
});

it('what everything is allowed of costs nothing', () => {
  const step = createAllowedNames({ tools: all, prompts: all, resources: all });
  expect(['tools/call', 'tools/list'].map((method) => step.cares(method))).toEqual([false, false]);
});

describe('read-only tools', () => {
  const tools = [
    { name: 'read', annotations: { readOnlyHint: true } },
    { name: 'write', annotations: { readOnlyHint: false } },
    { name: 'silent' },
    { name: 'odd', annotations: { readOnlyHint: 'true' } },
    { name: 'null', annotations: null },
  ];

  it('in read-only mode there are the tools alone of which the server says that they change nothing', async () => {
    const { talk, server } = stepped([createReadOnly(new ToolDefinitions(() => 0))], {
      'tools/list': () => ({ result: { tools, nextCursor: undefined } }),
      'tools/call': () => ({ result: { content: [] } }),
    });
    const { ask } = await talk();
    expect((await ask('tools/list')).result?.tools).toEqual([tools[0]]);
    expect((await ask('tools/call', { name: 'read' })).result).toBeDefined();
    for (const name of ['write', 'silent', 'odd', 'null', 'unlisted'])
      expect((await ask('tools/call', { name })).error?.message).toBe(`Tool ${name} not found`);
    expect(server.requests('tools/call')).toHaveLength(1);
  });

  const missing = { code: -32603, message: 'A key is missing.', data: { reason: 'credential_missing' } };

  it.each([
    ['an error', { error: missing }, missing],
    [
      'no list',
      { result: { tools: 'many' } },
      { code: -32603, message: 'The MCP server gives no list of its tools.' },
    ],
  ])(
    'where the server answers with %s when it is asked for its tools, a call is told so, and not that there is no such tool',
    async (_what, list, expected) => {
      const { talk, server } = stepped([createReadOnly(new ToolDefinitions(() => 0))], {
        'tools/list': () => list,
      });
      const { error } = await (await talk()).ask('tools/call', { name: 'read' });
      expect(error).toEqual(expected);
      expect(server.requests('tools/call')).toHaveLength(0);
    },
  );
});

describe('a pattern of names', () => {
  it.each([
    ['read', 'read', true],
    ['read', 'reads', false],
    ['read_*', 'read_file', true],
    ['read_*', 'unread_file', false],
    ['*_file', 'read_file', true],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*bc*c', 'abc', false],
    ['a.c', 'abc', false],
    ['A*', 'abc', false],
    ['notes://*/public', 'notes://ann/public', true],
  ])('%s: %s is %s', (pattern, name, fits) => {
    expect(namePatterns([pattern])(name)).toBe(fits);
  });

  it('fits where one of several does; none fits nothing', () => {
    expect(namePatterns(['a', 'b'])('b')).toBe(true);
    expect(namePatterns([])('b')).toBe(false);
  });

  it('takes no time for names made to take it (T-147)', () => {
    const startedMs = performance.now();
    namePatterns(['*a'.repeat(50).concat('b')])('a'.repeat(8192));
    expect(performance.now() - startedMs).toBeLessThan(patience(100));
  });
});
