import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, obtainTokens, openConsent, register, tryAccess } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/operator-clients/operator-relation.ts.

const redirectUri = 'https://app.example.com/callback';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({
    clients: {
      preRegistered: [
        { clientId: 'site', name: 'Team Calendar', redirectUris: [redirectUri] },
        { clientId: 'editor', name: 'Editor', redirectUris: ['http://127.0.0.1:53682/callback'] },
      ],
    },
  });
});
afterAll(() => gatehouse.stop());

async function consentOf(clientId: string, redirect_uri?: string): Promise<string> {
  const flow = authorization(gatehouse, clientId, redirect_uri ? { redirect_uri } : {});
  return (await openConsent(flow, createVisitor())).html;
}

it('consent says which app the operator registered, and where that proves nothing (A5-03, A5-09)', async () => {
  expect(await consentOf('site', redirectUri)).toMatch(
    /Registered by the operator of this server:<\/strong> <bdi class="name">“Team Calendar”/,
  );
  const local = await consentOf('editor');
  expect(local).toContain('registered by the operator of this server. Any app on this device can say that');
  expect(local).toContain('Not checked');
});

it('consent warns of another app that is called like one of the operator (T-060)', async () => {
  for (const client_name of [
    'Team Calendar',
    'TEAM  calendar',
    'Tеаm Саlеndаr',
    '\u202ETeam\u200B Calendar',
  ]) {
    const { client_id } = await register(gatehouse.url, { client_name });
    expect(await consentOf(client_id), client_name).toContain('This is not that app.');
  }
  const { client_id } = await register(gatehouse.url, { client_name: 'Team Chat' });
  expect(await consentOf(client_id)).not.toContain('This is not that app.');
  expect(await consentOf('site', redirectUri)).not.toContain('This is not that app.');
});

it('a client of the settings gets in without registering (A5-01, A5-03)', async () => {
  const { tokens } = await obtainTokens(gatehouse, { clientId: 'editor' });
  expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
});
