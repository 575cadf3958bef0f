import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { declareScopes } from '../src/mcp/index.ts';
import { type OwnServer, readOwnServer } from '../src/protected-server.ts';
import { SettingsRefused } from '../src/settings/issues.ts';

const info = { name: 'a', version: '1' };
const create = () => new McpServer(info);
const scopes = { 'notes:read': 'Read notes.', 'notes:write': 'Add notes.' };
const read = (given: OwnServer) => readOwnServer(given, 'https://mcp.example.com/tools');

/** What is wrong with a server, as its bringer is told. */
function problemsOf(given: unknown): readonly string[] {
  try {
    read(given as OwnServer);
    return [];
  } catch (error) {
    if (error instanceof SettingsRefused) return error.problems;
    throw error;
  }
}

describe('a server that is brought', () => {
  it.each([
    ['an McpServer of SDK v2', new McpServer(info), 'single'],
    ['an McpServer of SDK v1', new McpServerV1(info), 'single'],
    ['a function', create, 'each'],
    ['the long form of a server', { mcp: new McpServer(info) }, 'single'],
    ['the long form of a function', { create }, 'each'],
    ['the long form of a function for all', { create, sharing: 'shared' as const }, 'shared'],
  ])('as %s has the name of its host and one scope that everything needs', (_form, given, sharing) => {
    const { source, ...rest } = read(given);
    expect(source.sharing).toBe(sharing);
    expect(rest).toEqual({
      learns: expect.arrayContaining(['email', 'claims']),
      name: 'mcp.example.com',
      scopes: { mcp: 'Use this server.' },
      baselineScopes: ['mcp'],
      scopeRules: { otherwise: ['mcp'] },
    });
  });

  it.each([[null], ['stdio']])('is not connected where its class has a transport that is %o', (transport) => {
    expect(problemsOf({ mcp: { connect: create, close: create, transport } })).toEqual([]);
  });

  it('keeps its own name, scopes and rules; all scopes are the baseline unless it names them', () => {
    const scopeRules = { tools: { add: ['notes:write'] }, lists: 'granted' as const };
    expect(read({ name: 'Notes', create, scopes, scopeRules })).toMatchObject({
      name: 'Notes',
      scopes,
      baselineScopes: ['notes:read', 'notes:write'],
      scopeRules,
    });
    expect(read({ create, scopes }).scopeRules).toEqual({});
    expect(read({ create, scopes, baselineScopes: ['notes:read'] }).baselineScopes).toEqual(['notes:read']);
  });
});

describe('a server that cannot be used is refused with', () => {
  it.each<[unknown, ...string[]]>([
    [null, 'server: must be an McpServer, a function that makes one, or { name, create, scopes }'],
    ['notes', 'server: must be an McpServer, a function that makes one, or { name, create, scopes }'],
    [[create], 'server: must be an McpServer, a function that makes one, or { name, create, scopes }'],
    [{}, 'server: needs either create, a function that makes a server, or mcp, a server'],
    [
      { create, mcp: create() },
      'server: needs either create, a function that makes a server, or mcp, a server',
    ],
    [McpServer, 'server.create: must be a function that makes a server: () => new McpServer(…)'],
    [{ create: create() }, 'server.create: must be a function that makes a server: () => new McpServer(…)'],
    [{ mcp: create }, 'server.mcp: must be an MCP server, which has connect and close'],
    [
      Promise.resolve(create()),
      'server: is a promise: await it, or give the function that makes the server, which may be asynchronous',
    ],
    [
      { create, scopes: { 'c"': 'C.' }, baselineScopes: ['c'] },
      'server.scopes: "c\\"" is no scope: no spaces, quotes or backslashes',
      'server.baselineScopes: server.scopes has no "c"',
    ],
    [{ mcp: {} }, 'server.mcp: must be an MCP server, which has connect and close'],
    [{ create, sharing: 'all' }, 'server.sharing: must be "each" or "shared"'],
    [
      { mcp: create(), sharing: 'shared' },
      'server.sharing: is for create; a ready-made server answers all callers anyway',
    ],
    [{ create, name: ' ' }, 'server.name: must be text'],
    [{ create, scope: scopes }, 'server.scope: there is no such setting; did you mean scopes?'],
    [{ create, colour: 'red' }, 'server.colour: there is no such setting'],
    [{ create, scopes: ['a'] }, 'server.scopes: must map each scope to a sentence'],
    [{ create, scopes: {} }, 'server.scopes: needs at least one scope; leave it out to have one, mcp'],
    [
      { create, scopes: { 'a b': 'A.' } },
      'server.scopes: "a b" is no scope: no spaces, quotes or backslashes',
    ],
    [{ create, scopes: { a: '' } }, 'server.scopes.a: needs the sentence the consent page shows'],
    [
      { create, scopes: { openid: 'x' } },
      'server.scopes.openid: is a scope of the authorization server itself; give it another name',
    ],
    [
      { create, scopes, baselineScopes: ['notes:reed'] },
      'server.baselineScopes: server.scopes has no "notes:reed"; did you mean notes:read?',
    ],
    [{ create, baselineScopes: 'mcp' }, 'server.baselineScopes: must be a list of scopes'],
    [{ create, scopeRules: [] }, 'server.scopeRules: must be { tools, prompts, resources }'],
    [
      { create, scopeRules: { tool: {} } },
      'server.scopeRules.tool: there is no such setting; did you mean tools?',
    ],
    [
      { create, scopeRules: { tools: ['add'] } },
      'server.scopeRules.tools: must map names to lists of scopes',
    ],
    [
      { create, scopeRules: { tools: { add: 'mcp' } } },
      'server.scopeRules.tools.add: must be a list of scopes',
    ],
    [
      { create, scopes, scopeRules: { tools: { add: ['notes:writ'] } } },
      'server.scopeRules.tools.add: server.scopes has no "notes:writ"; did you mean notes:write?',
    ],
    [
      { create, scopeRules: { resources: { 'notes://': ['admin'] } } },
      'server.scopeRules.resources.notes://: server.scopes has no "admin"',
    ],
    [{ create, scopeRules: { otherwise: ['x'] } }, 'server.scopeRules.otherwise: server.scopes has no "x"'],
    [
      { create, scopeRules: { implies: { x: ['mcp'] } } },
      'server.scopeRules.implies: server.scopes has no "x"',
    ],
    [
      { create, scopeRules: { implies: { mcp: ['x'] } } },
      'server.scopeRules.implies.mcp: server.scopes has no "x"',
    ],
    [{ create, scopeRules: { lists: 'some' } }, 'server.scopeRules.lists: must be "all" or "granted"'],
  ])('what is wrong: %j', (given, ...problems) => {
    expect(problemsOf(given)).toEqual(problems);
  });

  it('everything that is wrong, at once', () => {
    expect(problemsOf({ name: 7, scopes: {}, scopeRules: { tols: {} } })).toHaveLength(4);
  });

  it.each([
    ['McpServer of SDK v2', () => new McpServer(info)],
    ['Server of SDK v2', () => new McpServer(info).server],
    ['McpServer of SDK v1', () => new McpServerV1(info) as unknown as McpServer],
  ])('what is wrong: that it is connected already (%s)', async (_kind, make) => {
    const server = make();
    const problem = 'server: is connected already; give one that is not, or a function that makes one';
    expect([problemsOf(server), problemsOf({ mcp: server })]).toEqual([[], []]);
    await server.connect(InMemoryTransport.createLinkedPair()[0]);
    expect([problemsOf(server), problemsOf({ mcp: server })]).toEqual([[problem], [problem]]);
  });

  it('the scopes that its code declares and nobody can be granted', () => {
    const mcp = declareScopes(new McpServer(info), { tools: { add: ['notes:add'], read: ['notes:read'] } });
    expect(problemsOf({ mcp, scopes })).toEqual([
      'server.scopes: has no "notes:add", which declareScopes names',
    ]);
  });

  it('no confusion over names every object has (T-137)', () => {
    const scopeRules = JSON.parse('{"tools":{"__proto__":["constructor"]}}');
    expect(problemsOf({ create, scopeRules })).toEqual([
      'server.scopeRules.tools.__proto__: server.scopes has no "constructor"',
    ]);
  });
});
