// Flows of the limit of src/authorization-server/endpoint-limits/principal-limit.ts and of src/mcp/http/limits.ts.
import { describe, expect, it, onTestFinished } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { type Door, doorNames, enter, messageOf, openDoor } from '../attacks/support/doors.ts';
import { createVictim } from '../attacks/support/victim.ts';
import { startEchoServers } from '../gateway/support/echo-servers.ts';

async function start(times: number, options: Parameters<typeof startGatehouse>[0] = {}) {
  const gatehouse = await startGatehouse({
    limits: { toolCalls: { times, windowSeconds: 600 } },
    ...options,
  });
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

const echo = (words: string) => ({ name: 'echo', arguments: { words } });

describe('Calls of a tool by an account', () => {
  it.each(['stored', 'none'] as const)(
    'count together over all transports and revisions, and are 429 beyond the limit (FA-32): sessions are %s',
    async (sessions) => {
      const gatehouse = await start(3, { server: createVictim('shared').server, mcp: { sessions } });
      const principal = await enter(gatehouse);
      const names = doorNames.filter((name) => sessions === 'stored' || name !== 'mcp 2025');
      const doors = await Promise.all(names.map((name) => openDoor(gatehouse, name, principal)));
      onTestFinished(() => {
        for (const door of doors) door.close();
      });
      for (let at = 0; at < 3; at++) {
        const door = doors[at % doors.length] as Door;
        expect(await door.ask('tools/call', echo('a'), 10 + at)).toMatchObject({ result: {} });
      }
      for (const door of doors) {
        const { body, headers } = door.write('tools/call', echo('a'), 20);
        const refused = await door.post(body, headers);
        expect(refused.status).toBe(429);
        const seconds = Number(refused.headers['retry-after']);
        expect(seconds).toBeGreaterThan(0);
        expect(seconds).toBeLessThanOrEqual(600);
        expect(messageOf(refused.body)).toEqual({
          jsonrpc: '2.0',
          id: 20,
          error: {
            code: -32000,
            message: expect.stringContaining('Wait as long as Retry-After says'),
            data: { reason: 'tool_called_too_often', retryAfterSeconds: seconds },
          },
        });
        expect(await door.ask('tools/list', {}, 21)).toMatchObject({ result: {} });
      }
      const reached = gatehouse.log.filter((line) => line.includes('limit.reached'));
      expect(reached.map((line) => JSON.parse(line))).toMatchObject([
        { limit: 'toolCalls', tool: 'echo', clientId: principal.clientId },
      ]);
    },
  );

  it('leave other tools and other accounts alone, and count for all clients of the account (FA-32)', async () => {
    const gatehouse = await start(1, { server: createVictim('shared').server });
    await gatehouse.administration.accounts.add(grace.email, grace.password);
    const [first, second, other] = await Promise.all(
      [{}, {}, { person: grace }].map(async (who) =>
        openDoor(gatehouse, 'mcp 2026', await enter(gatehouse, who)),
      ),
    );
    const outcomeOf = async (door: Door | undefined, name: string) =>
      Object.keys((await door?.ask('tools/call', { name, arguments: { words: 'a' } })) ?? {}).at(-1);
    expect(await outcomeOf(first, 'echo')).toBe('result');
    expect(await outcomeOf(second, 'echo')).toBe('error');
    expect(await outcomeOf(second, 'fail')).toBe('result');
    expect(await outcomeOf(other, 'echo')).toBe('result');
  });

  it('of one body count all or none (FA-32)', async () => {
    const gatehouse = await start(3, { server: createVictim('shared').server });
    const door = await openDoor(gatehouse, 'rest', await enter(gatehouse));
    const send = (count: number) =>
      door.post(
        JSON.stringify(
          Array.from({ length: count }, (_, id) => ({
            jsonrpc: '2.0',
            id,
            method: 'tools/call',
            params: echo('a'),
          })),
        ),
      );
    expect((await send(4)).status).toBe(429);
    expect((await send(3)).status).toBe(200);
    expect((await send(1)).status).toBe(429);
  });

  it('count at each route of a gateway by itself, and not at all with 0 times (FA-32)', async () => {
    const servers = await startEchoServers();
    onTestFinished(() => servers.stop());
    const routes = {
      one: { backend: { url: servers.url('http') } },
      two: { backend: { url: servers.url('modern') } },
    };
    const statuses = async (times: number) => {
      const gatehouse = await start(times, { routes });
      const seen: number[] = [];
      for (const route of ['one', 'two']) {
        const mcpUrl = `${gatehouse.url}/${route}/mcp`;
        const { tokens } = await obtainTokens({ ...gatehouse, mcpUrl }, { scope: 'mcp', scopes: ['mcp'] });
        const { headers, json } = modernRequest('tools/call', {
          name: 'echo',
          arguments: { doc: 1, end: 'of doc' },
        });
        for (let call = 0; call < 3; call++) {
          const answer = await fetch(mcpUrl, {
            method: 'POST',
            headers: {
              ...headers,
              authorization: `Bearer ${tokens.access_token}`,
              'content-type': 'application/json',
              accept: 'application/json, text/event-stream',
            },
            body: JSON.stringify(json),
          });
          await answer.text();
          seen.push(answer.status);
        }
      }
      return seen;
    };
    expect(await statuses(2)).toEqual([200, 200, 429, 200, 200, 429]);
    expect(await statuses(0)).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
