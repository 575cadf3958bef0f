// Flows of `gatehouse serve` on PostgreSQL: nodes as processes behind a balancer without stickiness.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { testFolder } from '../../client/support/folder.ts';
import { type Balancer, startBalancer } from '../../support/balancer.ts';
import { obtainTokens, refresh } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { commandLine } from '../../support/served.ts';
import { openSession } from '../restart/support/session.ts';

const server = usePostgres();

/** An installation whose nodes are processes. */
interface Processes {
  balancer: Balancer;
  mcpUrl: string;
  /** Starts a node; a balancer gets its port. */
  start(): Promise<{ program: Program; port: number; password: string | undefined }>;
}

async function prepare(): Promise<Processes> {
  const balancer = await startBalancer();
  onTestFinished(() => balancer.close());
  const database = await server().createDatabase();
  const env = { DATABASE_URL: database, MASTER_KEY: generateMasterKey() };
  return {
    balancer,
    mcpUrl: `${balancer.url}/mcp`,
    async start() {
      const config = join(testFolder(), 'gatehouse.json');
      writeFileSync(
        config,
        JSON.stringify({
          publicUrl: balancer.url,
          listen: { port: 0 },
          storage: { postgres: { env: 'DATABASE_URL' }, masterKey: { env: 'MASTER_KEY' } },
          cluster: { port: 0 },
          dangerously: { trustOtherPorts: true },
        }),
      );
      const program = runProgram(commandLine, ['serve', '--config', config, '--json'], { input: '', env });
      onTestFinished(() => program.stop());
      const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
      const { port, firstAccount } = JSON.parse(text) as {
        port: number;
        firstAccount?: { generatedPassword?: string };
      };
      balancer.ports.push(port);
      return { program, port, password: firstAccount?.generatedPassword };
    },
  };
}

describe('nodes as processes', () => {
  it('share accounts, tokens and keys; a session survives the kill of its node within its lease, and no token is lost', async () => {
    const installation = await prepare();
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
    const killedAt = performance.now();
    const statuses = new Set<number>();
    let response = await session.post(list);
    for (
      ;
      response.status !== 200 && performance.now() - killedAt < 20_000;
      response = await session.post(list)
    ) {
      statuses.add(response.status);
      expect(response.headers.get('retry-after')).not.toBeNull();
      await response.text();
      await sleep(100);
    }
    expect([response.status, [...statuses]]).toEqual([200, [503]]);
    expect(performance.now() - killedAt).toBeLessThan(12_000);
    expect((await refresh(balancer.url, clientId, tokens.refresh_token)).status).toBe(200);
  });

  it('end the open streams of a token within a second of its revocation at another node (T-103)', async () => {
    const installation = await prepare();
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
});
