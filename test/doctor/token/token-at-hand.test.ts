import { describe, expect, it } from 'vitest';
import { type Credential, createMemoryStore } from '../../../src/client/index.ts';
import { tokenChecks } from '../../../src/doctor/all-checks.ts';
import { firstSession } from '../../../src/doctor/login/session.ts';
import { bearer, isTokenTaken, pingWith, tokenAtHand } from '../../../src/doctor/token/token-at-hand.ts';
import { examined } from '../support/examine.ts';
import { startServer } from '../support/server.ts';
import { subjectOf } from '../support/subject.ts';

/** A store with a login at the server, made by an examination of it. */
async function keptLogin(over: Partial<Credential> = {}) {
  const { subject, server } = await subjectOf();
  const session = await subject.fact(firstSession);
  if (session.kind === 'missing') throw new Error(session.judgement.saw);
  const kept = createMemoryStore();
  const credential: Credential = {
    authorizationServer: session.found.authorizationServer,
    resource: server.url,
    clientId: session.client.clientId,
    accessToken: session.held.accessToken,
    refreshToken: session.held.refreshToken ?? '',
    ...over,
  };
  await kept.saveCredential(server.url, credential);
  return { kept, server, credential };
}

describe('the token that is looked at', () => {
  it('is that of the examination’s login, with the time it came', async () => {
    const { subject } = await subjectOf();
    const token = await tokenAtHand(subject);
    expect(token).toMatchObject({ kind: 'held', resource: subject.url });
    expect(token.kind === 'held' && Math.abs((token.receivedAt ?? 0) - Date.now() / 1000)).toBeLessThan(5);
  });

  it('is that of a kept login without --active; nothing is renewed, revoked or changed', async () => {
    const { kept, server, credential } = await keptLogin();
    const before = server.requests.length;
    const report = await examined(server.url, tokenChecks, { login: { kept } });
    const passed = report.findings.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
    expect(passed).toEqual([
      'TOKEN-CLAIMS',
      'TOKEN-AUDIENCE',
      'TOKEN-CLOCK',
      'TOKEN-ACCEPTED',
      'TOKEN-SESSION',
    ]);
    const paths = new Set(server.requests.slice(before).map(({ path }) => path));
    expect([...paths]).toEqual(['/mcp']);
    expect(await kept.findCredential(server.url)).toEqual(credential);
  });

  it('is missing where the kept one has ended: it is not renewed behind the user’s back', async () => {
    const { kept, server } = await keptLogin({ expiresAt: 1 });
    const { finding } = await examined(server.url, tokenChecks, { login: { kept } });
    expect(finding('TOKEN-ACCEPTED')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('has ended'),
    });
    expect(server.asked().filter((line) => line === 'POST /token')).toHaveLength(1);
  });

  it('of a kept login that was revoked meanwhile is no fault of the server', async () => {
    const { kept, server } = await keptLogin({ accessToken: 'revoked' });
    const { finding } = await examined(server.url, tokenChecks, { login: { kept } });
    expect(finding('TOKEN-ACCEPTED')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringMatching(
        /refused, with "Bearer .*the token of the kept login.*revoked: log in again.*--active/,
      ),
    });
    expect(finding('TOKEN-SESSION')).toMatchObject({ verdict: 'unknown', because: 'TOKEN-ACCEPTED' });
  });

  it('of a kept login that is refused without a reason is no fault of the server', async () => {
    const { kept, server } = await keptLogin();
    server.change('POST /mcp', () => ({ status: 401, headers: { 'www-authenticate': 'Bearer' } }));
    const { finding } = await examined(server.url, tokenChecks, { login: { kept } });
    expect(finding('TOKEN-ACCEPTED')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringMatching(
        /the token of the kept login.*revoked, or taken away.*log in again.*--active/,
      ),
    });
  });

  it('of a kept login that has too few scopes is no fault of the server either', async () => {
    const { kept, server } = await keptLogin();
    server.change('POST /mcp', () => ({ status: 403 }));
    const { finding } = await examined(server.url, tokenChecks, { login: { kept } });
    expect(finding('TOKEN-ACCEPTED')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringMatching(/answered 403 .*may have fewer scopes than it wants: log in again/),
    });
  });

  it('is missing without a login, and the report says how to get one', async () => {
    const server = await startServer();
    const { finding } = await examined(server.url, tokenChecks, { login: { kept: createMemoryStore() } });
    expect(finding('TOKEN-AUDIENCE')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('--active'),
    });
  });

  it('is never the kept one of an examination that may log in, also where nobody does', async () => {
    const { kept, server, credential } = await keptLogin();
    const before = server.requests.length;
    const { finding } = await examined(server.url, tokenChecks, { active: true, login: { kept } });
    expect(finding('TOKEN-ACCEPTED').verdict).not.toBe('pass');
    const sent = server.requests.slice(before).map(({ headers }) => headers.authorization);
    expect(sent).not.toContain(`Bearer ${credential.accessToken}`);
  });
});

describe('the use of a token', () => {
  it('a token travels in the Authorization field, never in the URL (A8-01)', async () => {
    const { subject, server } = await subjectOf();
    await pingWith(subject, 'at-1');
    const sent = server.requests.at(-1);
    expect(sent?.headers.authorization).toBe(bearer('at-1').authorization);
    expect([...(sent?.query ?? [])]).toEqual([]);
  });

  it('a token is taken unless the server answers 401; a broken server tells nothing', async () => {
    const { subject } = await subjectOf();
    const session = await subject.fact(firstSession);
    if (session.kind === 'missing') throw new Error(session.judgement.saw);
    expect(await isTokenTaken(subject, session.held.accessToken)).toBe(true);
    expect(await isTokenTaken(subject, 'made-up')).toBe(false);
    const broken = await subjectOf((server) => server.change('POST /mcp', () => ({ status: 502 })));
    expect(await isTokenTaken(broken.subject, 'made-up')).toBeUndefined();
  });
});
