// Flows of nodes behind PgBouncer in transaction mode.
import { describe, expect, it } from 'vitest';
import { obtainTokens, refresh } from '../../support/oauth.ts';
import { usePooler } from '../../support/postgres/pooler.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { prepareNodes } from '../../support/postgres/process-nodes.ts';
import { runGatehouse } from '../../support/served.ts';
import { openSession } from '../restart/support/session.ts';

const server = usePostgres();
const pooler = usePooler(server);

describe('two nodes behind a pooler', () => {
  it('share logins, tokens and sessions, and the audit log of both is intact', async () => {
    const nodes = await prepareNodes(server(), { through: (url) => pooler().through(url), pooled: true });
    const [first, second] = [await nodes.start(), await nodes.start()];
    const person = { email: 'owner@localhost', password: first.password ?? '' };
    const { clientId, tokens } = await obtainTokens(nodes, { person });
    nodes.balancer.only(first.port);
    const session = await openSession({ mcpUrl: nodes.mcpUrl, token: tokens.access_token });
    nodes.balancer.only(second.port);
    for (let id = 1; id <= 5; id++)
      expect((await session.post({ jsonrpc: '2.0', id, method: 'tools/list' })).status).toBe(200);
    nodes.balancer.only(undefined);
    const refreshed = await Promise.all(
      [1, 2, 3, 4].map(() => refresh(nodes.url, clientId, tokens.refresh_token)),
    );
    expect(refreshed.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { code, stdout } = await runGatehouse(['audit', 'verify', '--config', nodes.writeConfig()], {
      env: nodes.env,
    });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Intact: \d+ events\./)]);
  });
});
