// Over src/gateway/backends/message-rewrites.ts and src/mcp/legacy/restore.ts: a session hears that lists have changed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { type Attacked, enter, openDoor, openSession, send } from '../attacks/support/doors.ts';
import { openStream } from '../attacks/support/stream.ts';

/** A program whose only tool has the name of its argument, and its process id; `end` has it end. */
const program = (name: string) => ({
  command: process.execPath,
  args: [
    '-e',
    `const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined || method === undefined) return;
      const capabilities = { tools: {} };
      const serverInfo = { name: 'a', version: '1' };
      if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
      else if (method === 'tools/list') {
        const tool = (name) => ({ name, inputSchema: { type: 'object' } });
        say({ id, result: { tools: [tool(process.argv[1]), tool('pid-' + process.pid)] } });
      } else if (method === 'tools/call' && params.name === 'end') process.exit(3);
      else say({ id, result: { content: [] } });
    });`,
    name,
  ],
});

const changed = 'notifications/tools/list_changed';

it('A program that ended and came back may have other tools, and its session hears so (FA-44)', async () => {
  const gatehouse = await startGatehouse({ backend: program('first') });
  onTestFinished(() => gatehouse.stop());
  const door = await openDoor(gatehouse, 'messages', await enter(gatehouse, { scopes: ['mcp'] }));
  onTestFinished(() => door.close());
  const names = async (id: number): Promise<string[]> => {
    const { result } = await door.ask('tools/list', {}, id);
    return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };
  const before = await names(1);
  await door.ask('tools/call', { name: 'end', arguments: {} }, 2);
  expect(door.heard()).not.toContain(changed);
  const after = await names(3);
  expect([after[0], after[1] === before[1]]).toEqual(['first', false]);
  await vi.waitFor(() => expect(door.heard()).toContain(changed));
});

/** A session at `/mcp`, with what it hears once its server is another. */
async function openedSession(gatehouse: Attacked) {
  const { mcp } = await enter(gatehouse, { scopes: ['mcp'] });
  const session = await openSession(gatehouse, mcp);
  const headers = {
    authorization: `Bearer ${mcp}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': session,
    'mcp-protocol-version': '2025-11-25',
  };
  const post = (message: object, to = gatehouse) =>
    send(to, '/mcp', { headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  expect((await post({ method: 'notifications/initialized' })).status).toBe(202);
  const hearsChange = async (to = gatehouse): Promise<string> => {
    const { 'content-type': _none, ...asked } = headers;
    const stream = await openStream(to.listensAt, '/mcp', { ...asked, accept: 'text/event-stream' });
    expect(stream.status).toBe(200);
    await stream.waitFor(/tools\/list_changed/);
    stream.leave();
    return (await post({ id: 1, method: 'tools/list' }, to)).body;
  };
  return { hearsChange };
}

const at = (route: object) => ({ main: { path: '/', ...route } }) as never;

it.each([
  ['another program', { backend: program('second') }, 'second'],
  [
    'a policy that hides a tool',
    { backend: program('first'), policy: { tools: { deny: ['pid-*'] } } },
    'first',
  ],
  ['one more of several members', { backends: { a: program('first'), b: program('second') } }, 'b_second'],
])(
  'A route that is reloaded with %s tells its sessions that lists have changed (FA-44)',
  async (_what, route, name) => {
    const first = 'backends' in route ? { backends: { a: program('first') } } : { backend: program('first') };
    const gatehouse = await startGatehouse({ routes: at(first) });
    onTestFinished(() => gatehouse.stop());
    const { hearsChange } = await openedSession(gatehouse);
    gatehouse.replaceRoutes(at(route));
    expect(await hearsChange()).toContain(`"${name}"`);
  },
);

it('A route that is reloaded ends the stream of a client of 2026-07-28 that listens, so that it asks anew (FA-44)', async () => {
  const gatehouse = await startGatehouse({ routes: at({ backend: program('first') }) });
  onTestFinished(() => gatehouse.stop());
  const { mcp } = await enter(gatehouse, { scopes: ['mcp'] });
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const stream = await openStream(
    gatehouse.listensAt,
    '/mcp',
    {
      ...listen.headers,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${mcp}`,
    },
    { method: 'POST', body: JSON.stringify(listen.json) },
  );
  expect(stream.status).toBe(200);
  await stream.waitFor(/acknowledged/);
  gatehouse.replaceRoutes(at({ backend: program('second') }));
  await expect(stream.waitFor(/list_changed/)).rejects.toThrow('the stream ended');
});

it('A restart with another program tells the sessions that lists have changed (FA-44)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lists-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const before = await startGatehouse({ folder, routes: at({ backend: program('first') }) });
  const { hearsChange } = await openedSession(before);
  const port = Number(new URL(before.listensAt).port);
  await before.stop();
  const after = await startGatehouse({ folder, port, routes: at({ backend: program('second') }) });
  onTestFinished(() => after.stop());
  expect(await hearsChange(after)).toContain('"second"');
});
