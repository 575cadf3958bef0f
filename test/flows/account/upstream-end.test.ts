// What came of a login at an upstream, as an operator sees and ends it: src/authorization-server/administration/upstreams.ts
import { describe, expect, it, vi } from 'vitest';
import { authorization, redeem, register, tryAccess } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { createWalker } from '../../support/upstreams/browse.ts';
import { lin } from '../../support/upstreams/people.ts';
import { createVisitor } from '../../support/visitor.ts';
import { type Elsewhere, startElsewhere } from './support/elsewhere.ts';

/** An app that somebody let in, who logged in at the upstream. */
async function letIn({ gatehouse }: Elsewhere): Promise<string> {
  const { client_id } = await register(gatehouse.url);
  const flow = authorization(gatehouse, client_id);
  const visitor = createVisitor();
  const login = await visitor.open(flow.url);
  const approve = await visitor.submit(login, '/upstream', [['upstream', 'work']]);
  const scopes = [...approve.html.matchAll(/name="scope" value="([^"]*)"/g)];
  const { response } = await visitor.submit(approve, '/approve', [
    ['decision', 'allow'],
    ...scopes.map(([, scope = '']): [string, string] => ['scope', scope]),
  ]);
  const callback = await createWalker().walk(response.headers.get('location') ?? '', lin);
  const answer = await visitor.open(callback.href);
  const code = new URL(answer.response.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const tokens = await redeem(gatehouse.url, flow, code);
  return ((await tokens.json()) as { access_token: string }).access_token;
}

describe('an operator', () => {
  it('sees which upstream a grant and a browser login hang on, and ends both within a second, with the tokens there (A10-02)', async () => {
    const scene = await startElsewhere();
    const { gatehouse, work } = scene;
    const { administration } = gatehouse;
    const token = await letIn(scene);
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(200);
    expect(await administration.grants.list()).toMatchObject([{ email: lin.email, upstream: 'work' }]);
    const logins = async () =>
      (await administration.sessions.list({ email: lin.email })).filter(({ kind }) => kind === 'browser');
    expect(await logins()).toMatchObject([{ upstream: 'work' }]);

    const begunAt = performance.now();
    expect(await administration.upstreams.end('work', lin.email)).toEqual({ links: 1, grants: 1, logins: 1 });
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(401);
    expect(performance.now() - begunAt).toBeLessThan(patience(1_000));
    expect(await administration.grants.list()).toEqual([]);
    expect(await logins()).toEqual([]);
    await vi.waitFor(() => expect(work.revoked).not.toEqual([]), { timeout: 1_000 });
  });

  it('who ends it loses nobody: the next login finds the same account', async () => {
    const scene = await startElsewhere();
    await letIn(scene);
    const before = await scene.gatehouse.storage.accounts.findByEmail(lin.email);
    await scene.gatehouse.administration.upstreams.end('work');
    expect(await tryAccess(scene.gatehouse.mcpUrl, await letIn(scene))).toBe(200);
    const after = await scene.gatehouse.storage.accounts.findByEmail(lin.email);
    expect(after?.id).toBe(before?.id);
  });
});
