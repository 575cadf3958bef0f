import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/doctor/finding.ts';
import { hostChecks } from '../../../../src/doctor/machine/hosts/host-checks.ts';
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
