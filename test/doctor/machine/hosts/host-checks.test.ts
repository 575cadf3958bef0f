import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/doctor/check.ts';
import {
  compareUrls,
  hostChecks,
  secretArguments,
  secretHeaders,
} from '../../../../src/doctor/machine/hosts/host-checks.ts';
import type { Machine } from '../../../../src/doctor/machine/machine.ts';
import { finding, put, serverUrl, testMachine } from '../test-machine.ts';

/** As hosts write it. */
const variable = '$'.concat('{TOKEN}');

async function judge(id: string, machine: Machine): Promise<Finding> {
  const check = hostChecks(machine).find((candidate) => candidate.id === id);
  if (check === undefined) throw new Error(id);
  return finding(check);
}

function cursor(server: object, mode?: number): Machine {
  const machine = testMachine();
  put(machine.home, '.cursor/mcp.json', { mcpServers: { docs: server } }, mode);
  return machine;
}

describe('MACHINE-HOST-CONFIG', () => {
  it('finds a file that its host cannot read', async () => {
    const machine = testMachine();
    const file = put(machine.workingFolder, '.vscode/mcp.json', '{ "servers": { "a": { "url": "x" } ');
    const found = await judge('MACHINE-HOST-CONFIG', machine);
    expect(found).toMatchObject({ verdict: 'fail', saw: `VS Code cannot use ${file}: it is no JSON.` });
  });

  it('passes for one with comments, and skips where there is none', async () => {
    const machine = testMachine();
    expect(await judge('MACHINE-HOST-CONFIG', machine)).toMatchObject({ verdict: 'skip' });
    put(machine.workingFolder, '.vscode/mcp.json', '{ // mine\n "servers": {} }');
    expect(await judge('MACHINE-HOST-CONFIG', machine)).toMatchObject({ verdict: 'pass' });
  });
});

describe('MACHINE-HOST-URL', () => {
  it.each([
    [`${serverUrl}/`, 'the end'],
    ['https://mcp.exmaple.com/mcp', 'character 15'],
    ['http://mcp.example.com/mcp', 'character 5'],
  ])('finds %s and shows the difference', async (url, difference) => {
    const found = await judge('MACHINE-HOST-URL', cursor({ url }));
    expect(found.verdict).toBe('warn');
    expect(found.saw).toContain('Cursor, "docs"');
    expect(found.saw).toContain(difference);
  });

  it('passes for the same URL, also behind a bridge', async () => {
    expect(await judge('MACHINE-HOST-URL', cursor({ url: serverUrl }))).toMatchObject({ verdict: 'pass' });
    const bridge = cursor({ command: 'npx', args: ['-y', 'mcp-remote', serverUrl] });
    expect(await judge('MACHINE-HOST-URL', bridge)).toMatchObject({ verdict: 'pass' });
  });

  it('says nothing of other servers', async () => {
    const machine = cursor({ url: 'https://other.example/mcp', headers: { Authorization: 'Bearer x' } });
    for (const id of ['MACHINE-HOST-URL', 'MACHINE-HOST-HEADERS', 'MACHINE-HOST-SECRETS'])
      expect(await judge(id, machine)).toMatchObject({ verdict: 'skip' });
  });
});

describe('MACHINE-HOST-HEADERS', () => {
  it.each([
    { url: serverUrl, headers: { authorization: `Bearer ${variable}` } },
    { command: 'npx', args: ['mcp-remote', serverUrl, '--header', `Authorization: Bearer ${variable}`] },
  ])('finds a header that keeps the host from logging in: %j', async (server) => {
    const found = await judge('MACHINE-HOST-HEADERS', cursor(server));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining('never logs in') });
  });

  it('passes for other headers', async () => {
    const machine = cursor({ url: serverUrl, headers: { 'X-Team': 'a' } });
    expect(await judge('MACHINE-HOST-HEADERS', machine)).toMatchObject({ verdict: 'pass' });
  });
});

describe('MACHINE-HOST-SECRETS', () => {
  it('finds a secret that every user of the machine can list, and does not repeat it', async () => {
    const args = ['mcp-remote', serverUrl, '--header', 'Authorization: Bearer sk-live-1234567890'];
    const found = await judge('MACHINE-HOST-SECRETS', cursor({ command: 'npx', args }));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining('header Authorization') });
    expect(JSON.stringify(found)).not.toContain('sk-live');
  });

  it('finds a secret in a file that others can read', async () => {
    const server = { url: serverUrl, headers: { 'X-Api-Key': 'sk-live-1234567890' } };
    const found = await judge('MACHINE-HOST-SECRETS', cursor(server, 0o644));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining('others can read') });
    expect(await judge('MACHINE-HOST-SECRETS', cursor(server, 0o600))).toMatchObject({ verdict: 'pass' });
  });
});

describe('literal secrets', () => {
  const entry = (args: string[], headers: Record<string, string> = {}) => ({
    host: 'Cursor',
    file: 'mcp.json',
    name: 'a',
    args,
    headers,
  });

  /** As hosts write it. */
  const variable = '$'.concat('{env:TOKEN}');

  describe('secrets of a host', () => {
    it.each([
      [['--header', 'Authorization: Bearer abcdefgh12345'], 'header Authorization'],
      [['-H', 'X-Api-Key: abc'], 'header X-Api-Key'],
      [['Authorization:Bearer abcdefgh12345'], 'a bearer token'],
      [['--static-oauth-client-info', '{"client_id":"a","client_secret":"b"}'], 'client_secret'],
      [['--token=abc'], '--token'],
      [['--api-key', 'abc'], '--api-key'],
      [['https://user:pass@mcp.example.com/mcp'], 'a password in the URL'],
      [['https://mcp.example.com/mcp?api_key=abc'], 'api_key in the URL'],
    ])('in the arguments %j are found', (args, what) => {
      expect(secretArguments(entry(args))).toContain(what);
    });

    it.each([
      [['--header', `Authorization: Bearer ${variable}`]],
      [['--header', 'X-Team: a']],
      [['mcp-remote', 'https://mcp.example.com/mcp', '--token', '--verbose']],
      [['--token=$TOKEN']],
    ])('are none in %j', (args) => {
      expect(secretArguments(entry(args))).toEqual([]);
    });

    it('in headers are those with a value, not those that name a variable', () => {
      const headers = { Authorization: 'Bearer abc', 'X-Api-Key': variable, 'X-Team': 'a' };
      expect(secretHeaders(entry([], headers))).toEqual(['Authorization']);
    });
  });
});

describe('nearness', () => {
  const url = 'https://mcp.example.com/mcp';

  describe('two URLs', () => {
    it.each([
      [url, url, 'same'],
      [url, 'https://mcp.example.com/mcp/', 'variant'],
      [url, 'http://mcp.example.com/mcp', 'variant'],
      [url, 'https://MCP.example.com/MCP', 'variant'],
      [url, `${url}?a=b`, 'variant'],
      [url, 'https://mcp.exmaple.com/mcp', 'typo'],
      [url, 'https://mcp.example.com/mpc', 'typo'],
      [url, 'https://mcp.example.com/other-server', 'other'],
      [url, 'https://elsewhere.example/mcp', 'other'],
      ['http://localhost:3000/mcp', 'http://127.0.0.1:3000/mcp', 'variant'],
      ['http://localhost:3000/mcp', 'http://localhost:3001/mcp', 'other'],
      [url, 'htps//mcp.example.com/mcp', 'typo'],
    ])('%s and %s are %s', (examined, configured, nearness) => {
      expect(compareUrls(examined, configured)).toBe(nearness);
    });
  });
});
