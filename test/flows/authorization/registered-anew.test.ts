// Flows of src/authorization-server/interactions/registered-anew.ts: programs that register anew, and what they leave behind.
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, obtainTokens, redeem, refresh, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

afterEach(() => {
  vi.useRealTimers();
});

const day = 86_400;

function passDays(days: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * day * 1000 });
}

async function start(): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse();
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

interface Program {
  name: string;
  uris: [string, ...string[]];
}

/** Registers a program and logs in with it. @returns its client id and its refresh token */
async function logIn(gatehouse: RunningGatehouse, { name, uris }: Program) {
  const client = await register(gatehouse.url, { client_name: name, redirect_uris: uris });
  const flow = authorization(gatehouse, client.client_id, { redirect_uri: uris[0] });
  const code = (await approve(flow, { visitor: createVisitor() })).searchParams.get('code') ?? '';
  const answer = await redeem(gatehouse.url, flow, code);
  const { refresh_token: refreshToken } = (await answer.json()) as { refresh_token: string };
  return { clientId: client.client_id, refreshToken };
}

const mcporter = (port: number): Program => ({
  name: 'mcporter (notes)',
  uris: [`http://127.0.0.1:${port}/callback`],
});

async function grantsOf(gatehouse: RunningGatehouse): Promise<string[]> {
  return (await gatehouse.administration.grants.list()).map(({ clientId }) => clientId);
}

it('Grants of a program that has registered anew end after a week without use, those in use stay (FA-53)', async () => {
  const gatehouse = await start();
  const left = await logIn(gatehouse, mcporter(41_001));
  const used = await logIn(gatehouse, mcporter(41_002));
  passDays(5);
  const renewed = await refresh(gatehouse.url, used.clientId, used.refreshToken);
  expect(renewed.status).toBe(200);
  const early = await logIn(gatehouse, mcporter(41_003));
  expect((await grantsOf(gatehouse)).toSorted()).toEqual(
    [left.clientId, used.clientId, early.clientId].toSorted(),
  );
  passDays(4);
  const late = await logIn(gatehouse, mcporter(41_004));
  expect((await grantsOf(gatehouse)).toSorted()).toEqual(
    [used.clientId, early.clientId, late.clientId].toSorted(),
  );
  expect((await refresh(gatehouse.url, left.clientId, left.refreshToken)).status).toBe(400);
  const audited = gatehouse.log
    .map((line) => JSON.parse(line))
    .filter(({ audit }) => audit === 'grant.revoked');
  expect(audited).toMatchObject([{ reason: 'registered_anew', clientId: left.clientId }]);
});

it.each<[string, Program, Program, boolean]>([
  [
    'the same port each time',
    { name: 'a', uris: ['http://localhost:4000/oauth'] },
    { name: 'a', uris: ['http://localhost:4000/oauth'] },
    true,
  ],
  [
    'two redirect URIs',
    { name: 'a', uris: ['http://localhost:1/a', 'http://127.0.0.1:1/a'] },
    { name: 'a', uris: ['http://127.0.0.1:2/a', 'http://localhost:2/a'] },
    true,
  ],
  [
    'another name',
    { name: 'a', uris: ['http://localhost:1/a'] },
    { name: 'b', uris: ['http://localhost:2/a'] },
    false,
  ],
  [
    'another path',
    { name: 'a', uris: ['http://localhost:1/a'] },
    { name: 'a', uris: ['http://localhost:2/b'] },
    false,
  ],
  [
    'a page on the web, whose port says nothing',
    { name: 'a', uris: ['https://app.example/a'] },
    { name: 'a', uris: ['https://app.example/a'] },
    false,
  ],
])(
  'The registration before is folded into a new one only if both are of one program: %s (FA-53)',
  async (_what, before, after, isSame) => {
    const gatehouse = await start();
    const first = await logIn(gatehouse, before);
    passDays(9);
    const second = await logIn(gatehouse, after);
    expect((await grantsOf(gatehouse)).toSorted()).toEqual(
      (isSame ? [second.clientId] : [first.clientId, second.clientId]).toSorted(),
    );
  },
);

it('A grant at another server stays, however long nobody has used it (FA-53)', async () => {
  const gatehouse = await start();
  const metadata = { client_name: 'a', redirect_uris: ['http://127.0.0.1:53682/callback'] };
  const elsewhere = { ...gatehouse, mcpUrl: `${gatehouse.url}/rest` };
  const { client_id: clientId } = await register(gatehouse.url, metadata);
  await obtainTokens(elsewhere, { clientId });
  passDays(9);
  const again = await register(gatehouse.url, metadata);
  await obtainTokens(gatehouse, { clientId: again.client_id });
  expect(await grantsOf(gatehouse)).toHaveLength(2);
});
