// Flows of src/cluster/node.ts: a server that was paused for longer than its lease, and another one that took its place.
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { obtainTokens } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { prepareNodes } from '../../support/postgres/process-nodes.ts';
import { openSession, toolCall } from '../restart/support/session.ts';

const server = usePostgres();
const alone = { cluster: {} };

describe('a server on PostgreSQL that is paused for longer than its lease', () => {
  it.each([
    ['without a port for others', alone],
    ['with a port for others', {}],
  ])(
    'answers 503 beside a server without one that took its place, and says why: %s',
    async (_name, settings) => {
      const { balancer, url, start } = await prepareNodes(server(), { settings });
      const first = await start();
      first.program.process.kill('SIGSTOP');
      const second = await start(undefined, alone);
      first.program.process.kill('SIGCONT');
      await first.program.waitFor(
        'stderr',
        /another server has taken over|without cluster\.port has taken over/,
      );
      const statusesAt = async (port: number): Promise<number[]> => {
        balancer.only(port);
        const paths = ['/.well-known/oauth-authorization-server', '/readyz', '/healthz'];
        const responses = await Promise.all(paths.map((path) => fetch(url + path)));
        return responses.map(({ status }) => status);
      };
      expect(await statusesAt(first.port)).toEqual([503, 503, 200]);
      expect(await statusesAt(second.port)).toEqual([200, 200, 200]);
    },
  );

  it('without a port restores its sessions from the database, if another server has served meanwhile', async () => {
    const program = join(import.meta.dirname, 'support', 'counting-program.ts');
    const routes = { count: { path: '/', backend: { command: process.execPath, args: [program] } } };
    const { balancer, mcpUrl, start } = await prepareNodes(server(), { settings: { ...alone, routes } });
    const first = await start();
    const person = { email: 'owner@localhost', password: first.password ?? '' };
    const installation = { url: balancer.url, mcpUrl };
    const { tokens } = await obtainTokens(installation, { person, scopes: ['mcp'], scope: 'mcp' });
    balancer.only(first.port);
    const session = await openSession({ mcpUrl, token: tokens.access_token });
    /** Returns what the program of the session remembers once it was told a word. */
    const remember = async (id: number, what: string): Promise<string | undefined> => {
      const response = await session.post(toolCall(id, 'remember', { what }));
      return /"text":"\d+ ([a-z ]*)"/.exec(await response.text())?.[1];
    };
    expect(await remember(1, 'one')).toBe('one');

    first.program.process.kill('SIGSTOP');
    const second = await start();
    balancer.only(second.port);
    expect(await remember(2, 'two')).toBe('two');
    second.program.process.kill('SIGTERM');
    await once(second.program.process, 'exit');

    first.program.process.kill('SIGCONT');
    balancer.only(first.port);
    expect(await remember(3, 'three')).toBe('three');
    await first.program.waitFor('stderr', /another server has served meanwhile/);
  });
});
