import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  post,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { runProgram } from '../../support/program.ts';
import { commandLine } from '../../support/served.ts';
import { placeOf, queryDatabase, testStorage } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { expectRefused, generousLimits, nodePort, obtainCode, serveAlongside } from './subject.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits, ...nodePort });
});
afterAll(() => gatehouse.stop());

let people = 0;
/** An account of its own, so that tests do not end one another's. */
async function newPerson(): Promise<{ email: string; password: string }> {
  const person = { email: `person-${people++}@example.com`, password: 'a password of their own' };
  await gatehouse.administration.accounts.add(person.email, person.password);
  return person;
}

async function expectEnded(
  clientId: string,
  tokens: Tokens,
  error = 'invalid_grant',
  status = 400,
): Promise<void> {
  expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
  await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token), error, status);
}

async function expectUntouched(tokens: Tokens): Promise<void> {
  expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
}

/** Runs an operator's command in a process of its own. */
async function operate(args: string[], input = ''): Promise<void> {
  const program = runProgram(commandLine, [...args, ...(await placeOf(gatehouse.folder))], { input });
  expect(await program.ended, program.written.stderr).toBe(0);
}

describe('tokens end at once, for every process on the database', () => {
  it('with their grant (T-103)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: tokens.refresh_token });
    await expectEnded(clientId, tokens);
  });

  it('with their client, removed by the operator in another process; it can register again (T-103)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const other = await obtainTokens(gatehouse);
    await operate(['client', 'remove', clientId]);
    await expectEnded(clientId, tokens, 'invalid_client', 401);
    await expectUntouched(other.tokens);
    expect((await register(gatehouse.url)).client_id).not.toBe(clientId);
  });

  it('with their account, removed by the operator in another process (T-103)', async () => {
    const person = await newPerson();
    const { clientId, tokens } = await obtainTokens(gatehouse, { person });
    const other = await obtainTokens(gatehouse);
    await operate(['account', 'remove', person.email]);
    await expectEnded(clientId, tokens);
    await expectUntouched(other.tokens);
  });

  it('with a changed password, set by the operator in another process, as do logins (T-103)', async () => {
    const person = await newPerson();
    const visitor = createVisitor();
    const { clientId, tokens } = await obtainTokens(gatehouse, { person, visitor });
    expect((await visitor.open(authorization(gatehouse, clientId).url)).html).toContain('/consent"');
    await operate(['account', 'password', person.email, '--password-stdin'], 'another password altogether');
    await expectEnded(clientId, tokens);
    expect((await visitor.open(authorization(gatehouse, clientId).url)).html).toContain('name="password"');
    const again = { person: { ...person, password: 'another password altogether' } };
    await expectUntouched((await obtainTokens(gatehouse, again)).tokens);
    await expect(obtainTokens(gatehouse, { person })).rejects.toThrow(/no form for \/consent/);
  });

  it('also where a code waits, or a page is open, or a login was made that is not finished', async () => {
    const person = await newPerson();
    const clientId = (await register(gatehouse.url)).client_id;
    const waiting = authorization(gatehouse, clientId);
    const code = (await approve(waiting, { person })).searchParams.get('code') ?? '';
    const visitor = createVisitor();
    const login = await visitor.open(authorization(gatehouse, clientId).url);
    const action = /action="([^"]*\/login)"/.exec(login.html)?.[1] ?? '';
    const csrf = /name="csrf" value="([^"]*)"/.exec(login.html)?.[1] ?? '';
    const posted = await visitor.request(action, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ csrf, email: person.email, password: person.password }).toString(),
    });
    expect(posted.status).toBe(303);
    await gatehouse.administration.accounts.setPassword(person.email, 'another password altogether');
    const resumed = await visitor.open(posted.headers.get('location') ?? '');
    expect(resumed.response.status).toBe(400);
    expect(resumed.html).not.toContain('/consent"');
    const fields = {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: waiting.redirectUri,
      code_verifier: waiting.verifier,
      code,
    };
    await expectRefused(await post(`${gatehouse.url}/token`, fields), 'invalid_grant');
  });

  it('whichever process ended them and whichever is asked (T-103)', async () => {
    const other = await serveAlongside(gatehouse);
    try {
      const { clientId, tokens } = await obtainTokens(gatehouse);
      expect(await tryAccess(other.mcpUrl, tokens.access_token)).toBe(200);
      await post(`${other.url}/revoke`, { client_id: clientId, token: tokens.access_token });
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
      expect(await tryAccess(other.mcpUrl, tokens.access_token)).toBe(401);
    } finally {
      await other.program.stop();
    }
  });

  it('and no row is left of what was removed (T-066)', async () => {
    const person = await newPerson();
    const { clientId } = await obtainTokens(gatehouse, { person });
    await obtainCode(gatehouse, clientId);
    await gatehouse.administration.clients.remove(clientId);
    await gatehouse.administration.accounts.remove(person.email);
    const count = async (sql: string, value: string) => queryDatabase(gatehouse.folder, sql, [value]);
    expect(await count('SELECT 1 FROM grants WHERE client_id = $1', clientId)).toEqual([]);
    expect(await count('SELECT 1 FROM artifacts WHERE client_id = $1', clientId)).toEqual([]);
    expect(await count('SELECT 1 FROM accounts WHERE email = $1', person.email)).toEqual([]);
    if (testStorage === 'sqlite')
      expect(await queryDatabase(gatehouse.folder, 'PRAGMA foreign_key_check')).toEqual([]);
  });
});
