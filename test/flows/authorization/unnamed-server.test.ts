// Flows of src/authorization-server/interactions/server-choice.ts, src/authorization-server/interactions/page.ts,
// src/authorization-server/views/server-choice.ts and src/authorization-server/endpoint-limits/token-limit.ts: clients of
// 2025-03-26, which name no resource.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import {
  approve,
  authorization,
  type Flow,
  openConsent,
  post,
  redeem,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { claim, poll, registerDevice } from '../device/subject.ts';
import { basic, clientWithSecret } from '../machines/subject.ts';

const backend = nodeProgram('test/support/backend/server.ts', 'sound', 'of-a-route');
const routes = {
  notes: {
    name: 'Team notes',
    backend,
    scopes: { 'notes:read': 'Read the notes.', 'notes:write': 'Change the notes.' },
    baselineScopes: ['notes:read'],
  },
  files: { name: 'Team files', backend },
  mail: { name: 'Team mail', backend },
};

let gate: RunningGatehouse;
beforeAll(async () => {
  const robot = clientWithSecret('robot', { grantTypes: ['client_credentials'], scopes: ['mcp'] });
  gate = await startGatehouse({ routes, clients: { clientCredentials: true, preRegistered: [robot] } });
});
afterAll(() => gate.stop());

const mcpOf = (route: string) => `${gate.url}/${route}/mcp`;

/** Begins as a client of 2025-03-26 does: no resource, and scopes if it was told any. */
async function begin(parameters: Record<string, string | undefined> = {}): Promise<Flow> {
  const { client_id } = await register(gate.url);
  return authorization(gate, client_id, { resource: undefined, scope: undefined, ...parameters });
}

async function choose(flow: Flow, route: string, visitor: Visitor = createVisitor()) {
  const page = await visitor.open(flow.url);
  return visitor.submit(page, '/server', [
    ['decision', 'choose'],
    ['resource', mcpOf(route)],
  ]);
}

async function logInAt(route: string, scopes: string[], flow?: Flow): Promise<Tokens & { clientId: string }> {
  const visitor = createVisitor();
  const begun = flow ?? (await begin());
  await choose(begun, route, visitor);
  const page = await visitor.open(begun.url);
  expect(page.html).toContain('Which server');
  const chosen = await visitor.submit(page, '/server', [
    ['decision', 'choose'],
    ['resource', mcpOf(route)],
  ]);
  const consent = await openConsent({ url: chosen.url }, visitor);
  const { response } = await visitor.submit(consent, '/consent', [
    ['decision', 'allow'],
    ...scopes.map((scope): [string, string] => ['scope', scope]),
  ]);
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const tokens = (await (await redeem(gate.url, begun, code)).json()) as Tokens;
  return { ...tokens, clientId: begun.clientId };
}

describe('a request that names no resource, where there are several servers', () => {
  it('has the person choose the server, with nothing chosen at first (FA-20)', async () => {
    const { html, response } = await createVisitor().open((await begin()).url);
    expect(response.status).toBe(200);
    expect(html).toContain('Which server may');
    for (const route of Object.keys(routes)) expect(html).toContain(`value="${mcpOf(route)}" required`);
    expect(html).not.toContain(' checked');
    expect(html).not.toContain('name="password"');
  });

  it('is then for the chosen server, whose name and baseline scopes stand on the login and consent page (FA-20)', async () => {
    const visitor = createVisitor();
    const login = await choose(await begin(), 'notes', visitor);
    expect(login.html).toContain('Team notes');
    const consent = await openConsent({ url: login.url }, visitor);
    expect(consent.html).toContain('Team notes');
    expect(consent.html).toContain(mcpOf('notes'));
    expect(consent.html).toContain('value="notes:read"');
    expect(consent.html).not.toContain('value="notes:write"');
  });

  it('gives a token for every transport of the chosen server, and refreshes stay there (FA-20)', async () => {
    const tokens = await logInAt('files', ['mcp']);
    expect(await tryAccess(mcpOf('files'), tokens.access_token)).toBe(200);
    const sse = await fetch(`${gate.url}/files/sse`, {
      headers: { authorization: `Bearer ${tokens.access_token}`, accept: 'text/event-stream' },
    });
    await sse.body?.cancel();
    expect(sse.status).toBe(200);
    const rest = await fetch(`${gate.url}/files/rest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(rest.status).toBe(200);
    const next = (await (await refresh(gate.url, tokens.clientId, tokens.refresh_token)).json()) as Tokens;
    expect(await tryAccess(mcpOf('files'), next.access_token)).toBe(200);
  });

  it('is for the server that alone has its scopes, without a choice (FA-20)', async () => {
    const flow = await begin({ scope: 'notes:read notes:write' });
    const { html } = await openConsent(flow, createVisitor());
    expect(html).toContain(mcpOf('notes'));
    expect(html).toContain('value="notes:write"');
  });

  it('has a choice where several servers have its scopes (FA-20)', async () => {
    const { html } = await createVisitor().open((await begin({ scope: 'mcp' })).url);
    expect(html).toContain('Which server may');
  });

  it('is refused nothing else: Cancel tells the app access_denied (FA-20)', async () => {
    const visitor = createVisitor();
    const page = await visitor.open((await begin()).url);
    const { response } = await visitor.submit(page, '/server', [['decision', 'deny']]);
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe('access_denied');
  });

  it.each([
    ['no server', []],
    ['a server that is not there', [['resource', 'https://evil.example/mcp']]],
    ['the undecided one', [['resource', 'urn:gatehouse:undecided']]],
  ] as [string, [string, string][]][])(
    'is not answered by a form that names %s (FA-20)',
    async (_what, fields) => {
      const visitor = createVisitor();
      const page = await visitor.open((await begin()).url);
      const { response } = await visitor.submit(page, '/server', [['decision', 'choose'], ...fields]);
      expect(response.status).toBe(400);
    },
  );

  it('lets nobody past the choice to a login (FA-20)', async () => {
    const visitor = createVisitor();
    const page = await visitor.open((await begin()).url);
    const { response } = await visitor.submit(
      { ...page, html: page.html.replace('/server"', '/login"') },
      '/login',
      [],
    );
    expect(response.status).toBe(400);
  });

  it('keeps the choice where the person takes another account, and where they are logged in already (FA-20)', async () => {
    const visitor = createVisitor();
    const login = await choose(await begin(), 'files', visitor);
    const consent = await openConsent({ url: login.url }, visitor);
    const again = await visitor.submit(consent, '/switch', []);
    expect(again.html).toContain('name="password"');
    expect(again.html).toContain('Team files');

    const loggedIn = createVisitor();
    await openConsent({ url: (await choose(await begin(), 'files', loggedIn)).url }, loggedIn);
    const second = await choose(await begin(), 'mail', loggedIn);
    expect(second.html).toContain('Team mail');
  });

  it('of a device has a choice as well, and its token is for the chosen server (FA-20)', async () => {
    const clientId = await registerDevice(gate.url);
    const asked = await post(`${gate.url}/device/auth`, { client_id: clientId });
    const code = (await asked.json()) as { device_code: string; user_code: string; verification_uri: string };
    const visitor = createVisitor();
    const page = await claim({ url: code.verification_uri, userCode: code.user_code }, visitor);
    const chosen = await visitor.submit(page, '/server', [
      ['decision', 'choose'],
      ['resource', mcpOf('mail')],
    ]);
    const consent = await openConsent({ url: chosen.url }, visitor);
    expect(consent.html).toContain('Team mail');
    await visitor.submit(consent, '/consent', [
      ['decision', 'allow'],
      ['scope', 'mcp'],
    ]);
    const { body } = await poll(gate.url, { clientId, deviceCode: code.device_code });
    expect(await tryAccess(mcpOf('mail'), body.access_token ?? '')).toBe(200);
    expect(await tryAccess(mcpOf('files'), body.access_token ?? '')).toBe(403);
  });

  it('that is pushed has a choice as well (FA-20)', async () => {
    const { client_id } = await register(gate.url);
    const flow = authorization(gate, client_id, { resource: undefined, scope: undefined });
    const pushed = await post(`${gate.url}/par`, [...new URL(flow.url).searchParams] as [string, string][]);
    const { request_uri } = (await pushed.json()) as { request_uri: string };
    const { html } = await createVisitor().open(
      `${gate.url}/authorize?${new URLSearchParams({ client_id, request_uri })}`,
    );
    expect(html).toContain('Which server may');
  });
});

it.each(['urn:gatehouse:undecided', 'urn:gatehouse:undecided:unscoped'])(
  'no client gets a token for %s, which no server is (FA-20)',
  async (resource) => {
    const ask = { grant_type: 'client_credentials', resource };
    const response = await post(`${gate.url}/token`, ask, basic('robot'));
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_target' }]);
  },
);

describe('a token for a server that the person chose', () => {
  it('is 403 at another server, as a refresh cannot help there; one that names its resource is 401 (FA-20)', async () => {
    const chosen = await logInAt('files', ['mcp']);
    const refused = await fetch(mcpOf('mail'), {
      method: 'POST',
      headers: { authorization: `Bearer ${chosen.access_token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: 'invalid_token',
      error_description: expect.stringMatching(/chosen at the login.*log in again/),
    });

    const { client_id } = await register(gate.url);
    const named = authorization(gate, client_id, { resource: mcpOf('files'), scope: 'mcp' });
    const code = (await approve(named, { scopes: ['mcp'] })).searchParams.get('code') ?? '';
    const { access_token } = (await (await redeem(gate.url, named, code)).json()) as Tokens;
    expect(await tryAccess(mcpOf('mail'), access_token)).toBe(401);
  });
});

describe('a client that refreshes without one accepted call', () => {
  it('is told why after ten times in a minute, and slowed; its login stays good (FA-20)', async () => {
    const { clientId, ...tokens } = await logInAt('files', ['mcp']);
    let current: Tokens = tokens;
    const again = () => refresh(gate.url, clientId, current.refresh_token);
    for (let time = 0; time < 10; time++) {
      expect(await tryAccess(mcpOf('notes'), current.access_token)).toBe(403);
      current = (await (await again()).json()) as Tokens;
    }
    let slowed = await again();
    // Each node counts for itself.
    for (let time = 0; slowed.status === 200 && time < 10 * (nodeCount - 1); time++) {
      current = (await slowed.json()) as Tokens;
      slowed = await again();
    }
    expect(slowed.status).toBe(429);
    expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await slowed.json()).toMatchObject({
      error: 'temporarily_unavailable',
      error_description: expect.stringMatching(/no call with its access tokens was accepted/),
    });
    // An accepted call shows that there is no loop.
    let renewed = slowed;
    for (let time = 0; renewed.status !== 200 && time < 1 + 20 * (nodeCount - 1); time++) {
      expect(await tryAccess(mcpOf('files'), current.access_token)).toBe(200);
      renewed = await again();
    }
    expect(renewed.status).toBe(200);
  });

  it('is not slowed while its calls are accepted in between (FA-20)', async () => {
    const { clientId, ...tokens } = await logInAt('files', ['mcp']);
    let current: Tokens = tokens;
    for (let time = 0; time < 14; time++) {
      current = (await (await refresh(gate.url, clientId, current.refresh_token)).json()) as Tokens;
      if (time % 3 === 0) expect(await tryAccess(mcpOf('files'), current.access_token)).toBe(200);
    }
    expect(current.access_token).toBeTruthy();
  });
});

it('with one server there is nothing to choose (FA-20)', async () => {
  const alone = await startGatehouse();
  onTestFinished(() => alone.stop());
  const { client_id } = await register(alone.url);
  const flow = authorization(alone, client_id, { resource: undefined, scope: undefined });
  const { html } = await openConsent(flow, createVisitor());
  expect(html).toContain(alone.mcpUrl);
  expect(html).not.toContain('Which server may');
});

it('with one server, a token asked for without a resource is good at each of its transports (FA-20)', async () => {
  const alone = await startGatehouse();
  onTestFinished(() => alone.stop());
  const { client_id } = await register(alone.url);
  const flow = authorization(alone, client_id, { resource: undefined, scope: undefined });
  const code = (await approve(flow)).searchParams.get('code') ?? '';
  const tokens = (await (await redeem(alone.url, flow, code)).json()) as Tokens;
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  expect(await tryAccess(alone.mcpUrl, tokens.access_token)).toBe(200);
  const sse = await fetch(`${alone.url}/sse`, { headers: { ...headers, accept: 'text/event-stream' } });
  await sse.body?.cancel();
  expect(sse.status).toBe(200);
  const rest = await fetch(`${alone.url}/rest`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(rest.status).toBe(200);
});
