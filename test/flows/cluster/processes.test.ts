// Flows of `gatehouse serve` on PostgreSQL: nodes as processes behind a balancer without stickiness.
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { obtainTokens, refresh } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { prepareNodes, untilServed } from '../../support/postgres/process-nodes.ts';
import { openSession } from '../restart/support/session.ts';

const server = usePostgres();

describe('nodes as processes', () => {
  it('share accounts, tokens and keys; a session survives the kill of its node within its lease, and no token is lost', async () => {
    const installation = await prepareNodes(server());
    const { balancer, mcpUrl } = installation;
    const first = await installation.start();
    const second = await installation.start();
    expect(second.password).toBeUndefined();
    const person = { email: 'owner@localhost', password: first.password ?? '' };
    const { clientId, tokens } = await obtainTokens({ url: balancer.url, mcpUrl }, { person });
    balancer.only(first.port);
    const session = await openSession({ mcpUrl, token: tokens.access_token });
    balancer.only(second.port);
    const list = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} };
    expect((await session.post(list)).status).toBe(200);

    first.program.process.kill('SIGKILL');
    await first.program.ended;
    const killedAt = performance.now();
    const { response, statuses } = await untilServed(session, list);
    expect([response.status, [...statuses]]).toEqual([200, [503]]);
    expect(performance.now() - killedAt).toBeLessThan(12_000);
    expect((await refresh(balancer.url, clientId, tokens.refresh_token)).status).toBe(200);
  });

  it('end the open streams of a token within a second of its revocation at another node (T-103)', async () => {
    const installation = await prepareNodes(server());
    const { balancer, mcpUrl } = installation;
    const first = await installation.start();
    const second = await installation.start();
    const person = { email: 'owner@localhost', password: first.password ?? '' };
    for (let round = 0; round < 3; round++) {
      balancer.only(undefined);
      const { clientId, tokens } = await obtainTokens({ url: balancer.url, mcpUrl }, { person });
      balancer.only(second.port);
      const session = await openSession({ mcpUrl, token: tokens.access_token });
      const stream = await session.listen();
      balancer.only(first.port);
      const revoked = await fetch(`${balancer.url}/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ token: tokens.refresh_token, client_id: clientId }),
      });
      expect(revoked.status).toBe(200);
      const revokedAt = performance.now();
      await stream.rest();
      expect(performance.now() - revokedAt).toBeLessThan(1_500);
      balancer.only(second.port);
      const after = await session.post({ jsonrpc: '2.0', id: 1, method: 'ping' });
      expect(after.status).toBe(401);
    }
  });

  it('wait at their start until PostgreSQL can be reached', async () => {
    const port = await freePort();
    let there = new URL('postgres://127.0.0.1');
    const installation = await prepareNodes(server(), {
      through(url) {
        there = new URL(url);
        return url.replace(`:${there.port}/`, `:${port}/`);
      },
    });
    const program = installation.run();
    await program.waitFor('stderr', /PostgreSQL cannot be reached \(ECONNREFUSED\)/);
    const relay = createServer((socket) => {
      const upstream = connect(Number(there.port), there.hostname);
      pipeline(socket, upstream, socket, () => undefined);
    });
    onTestFinished(() => void relay.close());
    await new Promise<void>((resolve) => relay.listen(port, '127.0.0.1', resolve));
    await installation.join(program);
    expect((await fetch(`${installation.url}/readyz`)).status).toBe(200);
  });

  it('that wait for PostgreSQL end at once if they are told to', async () => {
    const port = await freePort();
    const installation = await prepareNodes(server(), {
      through: (url) => url.replace(`:${new URL(url).port}/`, `:${port}/`),
    });
    const program = installation.run();
    await program.waitFor('stderr', /PostgreSQL cannot be reached/);
    program.process.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
