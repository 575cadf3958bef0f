// Flows of src/authorization-server/administration/grants.ts, src/authorization-server/administration/sessions.ts,
// src/cli/commands/operator/access.ts and src/cli/commands/operator/access.ts.
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  redeem,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { oneSecondMs } from '../../support/one-second.ts';
import { runGatehouse, type Served, serveGatehouse } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';

let served: Served;
beforeAll(async () => {
  // Logins of browsers last as they do over https.
  served = await serveGatehouse([], { dangerously: { trustOtherPorts: true } });
});
afterAll(() => served.stop());

/** Runs an operator's command in a process of its own; gives its JSON. */
async function operate<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runGatehouse([...args, '--json', ...(await placeOf(served.folder))]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

interface Listed {
  id: string;
  kind?: string;
  email: string;
  clientId?: string;
}

/** Opens an MCP session and its stream; `ended` resolves with the time at which the stream ended. */
async function openStream({ access_token }: Tokens): Promise<{ ended: Promise<number>; sessionId: string }> {
  const headers = {
    authorization: `Bearer ${access_token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const opened = await fetch(served.mcpUrl, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }),
  });
  await opened.text();
  const sessionId = opened.headers.get('mcp-session-id') ?? '';
  const stream = await fetch(served.mcpUrl, {
    headers: { ...headers, accept: 'text/event-stream', 'mcp-session-id': sessionId },
  });
  expect(stream.status).toBe(200);
  const read = async (): Promise<number> => {
    await stream.text().catch(() => undefined);
    return performance.now();
  };
  return { ended: read(), sessionId };
}

/** How long after the command a stream ended, in milliseconds. */
async function delayOf(ended: Promise<number>): Promise<number> {
  const since = performance.now();
  const at = await Promise.race([ended, wait(5000, Number.POSITIVE_INFINITY, { ref: false })]);
  return at - since;
}

describe('an operator, beside a running server', () => {
  it('lists grants without anything that opens a door, and revokes one: tokens and streams end within a second (T-103, T-192)', async () => {
    const { clientId, tokens } = await obtainTokens(served);
    const { ended } = await openStream(tokens);
    const [grant] = await operate<Listed[]>('grant', 'list', '--client', clientId);
    expect(grant).toMatchObject({
      email: ada.email,
      clientId,
      resources: { [served.mcpUrl]: ['notes:read', 'notes:write'] },
    });
    expect(JSON.stringify(grant)).not.toContain(tokens.access_token);
    expect(await operate('grant', 'revoke', grant?.id ?? '')).toEqual({ revoked: grant?.id });
    expect(await delayOf(ended)).toBeLessThan(oneSecondMs);
    expect(await tryAccess(served.mcpUrl, tokens.access_token)).toBe(401);
    const again = await runGatehouse(['grant', 'revoke', grant?.id ?? '', ...(await placeOf(served.folder))]);
    expect([again.code, again.stderr]).toEqual([
      2,
      'There is no grant with this id. The list of grants has their ids.\n',
    ]);
    const [row] = await operate<object[]>('audit', 'list', '--event', 'grant.revoked');
    expect(row).toMatchObject({
      details: { target: grant?.id, operator: expect.stringMatching(/ \(\d+\)$/) },
    });
  });

  it.each(['grant', 'session'])(
    'is told of an account that is not there, in the place of an empty list: %s',
    async (what) => {
      const args = [what, 'list', '--account', 'Nobody@example.com', ...(await placeOf(served.folder))];
      const { code, stdout, stderr } = await runGatehouse(args);
      expect([code, stdout, stderr]).toEqual([2, '', 'There is no account nobody@example.com.\n']);
    },
  );

  it('lists MCP sessions and ends one: its stream ends within a second, the token goes on (T-192)', async () => {
    const { clientId, tokens } = await obtainTokens(served);
    const { ended, sessionId } = await openStream(tokens);
    const [session] = await operate<Listed[]>('session', 'list', '--client', clientId);
    expect(session).toMatchObject({ kind: 'mcp', email: ada.email, clientId });
    expect(JSON.stringify(session)).not.toContain(sessionId);
    await operate('session', 'end', session?.id ?? '');
    expect(await delayOf(ended)).toBeLessThan(oneSecondMs);
    expect(await operate<Listed[]>('session', 'list', '--client', clientId)).toEqual([]);
    expect(await tryAccess(served.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('lists logins in browsers and ends one: the browser has to log in anew (T-192)', async () => {
    const visitor = createVisitor();
    const { client_id: clientId } = await register(served.url);
    const flow = authorization(served, clientId);
    const code = (await approve(flow, { visitor })).searchParams.get('code') ?? '';
    expect((await redeem(served.url, flow, code)).status).toBe(200);
    const logins = (await operate<Listed[]>('session', 'list', '--account', ada.email)).filter(
      ({ kind }) => kind === 'browser',
    );
    expect((await visitor.open(authorization(served, clientId).url)).html).not.toContain('name="password"');
    for (const { id } of logins) await operate('session', 'end', id);
    expect((await visitor.open(authorization(served, clientId).url)).html).toContain('name="password"');
  });

  it('is told where a session that was ended has an app, which may go on; a login in a browser has none', async () => {
    const { tokens } = await obtainTokens(served);
    await openStream(tokens);
    const listed = await operate<Listed[]>('session', 'list', '--account', ada.email);
    const end = async (wanted: string) => {
      const { id = '' } = listed.find(({ kind }) => kind === wanted) ?? {};
      return (await runGatehouse(['session', 'end', id, ...(await placeOf(served.folder))])).stdout;
    };
    expect(await end('mcp')).toBe('Ended. Its app keeps its tokens; to end them: gatehouse grant revoke.\n');
    expect(await end('browser')).toBe('Ended.\n');
  });

  it('sees tables of the same, for a terminal', async () => {
    for (const command of ['grant', 'session'])
      expect((await runGatehouse([command, 'list', ...(await placeOf(served.folder))])).stdout).toMatch(
        /^(ID|KIND) +/,
      );
  });
});
