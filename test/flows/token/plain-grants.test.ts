// Flows of src/authorization-server/plain-grants/plain-grants.ts and src/authorization-server/plain-grants/plain-checks.ts
// beside the engine: what a plain request gets and writes is what the engine gives and writes, and whatever is wrong is
// answered by the engine itself.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import Provider from 'oidc-provider';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, type Flow, post, register, type Tokens } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { generousLimits } from './subject.ts';

const jwtResource = 'https://files.example/mcp';

let gatehouse: RunningGatehouse;
let visitor: ReturnType<typeof createVisitor>;
let clientId: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({
    limits: generousLimits,
    resources: [
      { resource: jwtResource, name: 'Files', scopes: { 'files:read': 'Read.' }, accessTokenFormat: 'jwt' },
    ],
  });
  clientId = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Fields = Record<string, string>;

/** A request to the token endpoint. */
interface Asked {
  fields: Fields;
  headers?: Fields;
}

/** A parameter nobody knows: such a request is not plain, and the engine takes it as if it were not there. */
const throughTheEngine = { unknown_to_all: '1' };

/** Asks the token endpoint; says as well whether the engine judged the grant. */
async function ask({ fields, headers }: Asked): Promise<{ response: Response; isOfEngine: boolean }> {
  const emit = vi.spyOn(Provider.prototype, 'emit');
  const response = await post(`${gatehouse.url}/token`, fields, headers);
  const isOfEngine = emit.mock.calls.some(([event]) => String(event).startsWith('grant.'));
  emit.mockRestore();
  return { response, isOfEngine };
}

/** Stops the clock of the server, which is in this process, some seconds from now. */
function stopClock(seconds = 0): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

async function obtainCode(
  parameters: Record<string, string | undefined> = {},
  client = clientId,
  scopes = parameters.scope?.split(' ').filter((scope) => scope.includes(':')),
): Promise<{ flow: Flow; fields: Fields }> {
  visitor = createVisitor();
  const flow = authorization(gatehouse, client, parameters);
  const callback = await approve(flow, { visitor, ...(scopes && { scopes }) });
  const fields = {
    grant_type: 'authorization_code',
    client_id: client,
    redirect_uri: flow.redirectUri,
    code_verifier: flow.verifier,
    code: callback.searchParams.get('code') ?? '',
  };
  return { flow, fields };
}

async function obtainRefresh(parameters: Record<string, string | undefined> = {}): Promise<Fields> {
  const { fields } = await obtainCode(parameters);
  const { response } = await ask({ fields });
  const tokens = (await response.json()) as Tokens;
  expect(response.status, JSON.stringify(tokens)).toBe(200);
  return { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.refresh_token };
}

const plainly = {
  code: async () => (await obtainCode()).fields,
  'code with its resource': async () => ({ ...(await obtainCode()).fields, resource: gatehouse.mcpUrl }),
  'code for which a scope was left out': async () => (await obtainCode({}, clientId, ['notes:read'])).fields,
  'refresh token': () => obtainRefresh(),
  'refresh token with its resource': async () => ({ ...(await obtainRefresh()), resource: gatehouse.mcpUrl }),
  'refresh token of fewer scopes': () => obtainRefresh({ scope: 'notes:read' }),
  'refresh token with offline access': () => obtainRefresh({ scope: 'notes:read offline_access' }),
};

/** What differs from one login to the next. */
const varying = [
  'id',
  'jti',
  'grantId',
  'grant_number',
  'sessionUid',
  'codeChallenge',
  'requestId',
  'successor',
];

const steady = (record: object): object =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      varying.includes(name)
        ? typeof value
        : name === 'details' || name === 'payload'
          ? steady(value)
          : value,
    ]),
  );

interface ArtifactColumns {
  kind: string;
  id: string;
  payload: Buffer;
  consumed_at: number | null;
}

interface AuditColumns {
  seq: number;
  event: string;
  details: string;
}

/** Artifacts and audit rows as they are in the database; refusals as in the log, for those that repeat have no row each. */
function readRows(): Map<string, object> {
  const box = createSealedBox(gatehouse.keys.sealing);
  const database = new Database(join(gatehouse.folder, 'gatehouse.db'), { readonly: true });
  const artifacts = database.prepare('SELECT * FROM artifacts').all() as ArtifactColumns[];
  const audit = database
    .prepare(`SELECT seq, event, details FROM audit WHERE event GLOB 'token.*' AND event <> 'token.refused'`)
    .all() as AuditColumns[];
  database.close();
  const refusals = gatehouse.log
    .map((line) => JSON.parse(line) as Fields)
    .filter(({ audit }) => audit === 'token.refused');
  return new Map([
    ...refusals.map(({ level: _level, time: _time, audit: event, ...details }, at): [string, object] => [
      `refusal ${at}`,
      { event, details },
    ]),
    ...artifacts.map(({ kind, id, payload, ...row }): [string, object] => [
      `${kind} ${id} ${row.consumed_at}`,
      { kind, id, ...row, payload: JSON.parse(box.open(payload, `${kind}:${id}`)) },
    ]),
    ...audit.map(({ seq, event, details }): [string, object] => [
      `audit ${seq}`,
      { event, details: JSON.parse(details) },
    ]),
  ]);
}

/** What was written since, once it is noted how the request ended: of a refusal that is written a moment later. */
async function awaitNoted(before: Map<string, object>): Promise<object[]> {
  for (;;) {
    const fresh = [...readRows()].flatMap(([name, row]) => (before.has(name) ? [] : [row]));
    if (fresh.some((row) => 'event' in row && /issued|refused/.test(String(row.event)))) return fresh;
    await sleep(10);
  }
}

/** What the tokens of a plain answer begin with. */
const dateShape = /^[\da-z]{9}-(?=[\w-]{43}$)/;

/** What a request gets and writes, without what differs from one login to the next. */
async function observe(asked: Asked) {
  const before = readRows();
  const { response, isOfEngine } = await ask(asked);
  const body = (await response.json()) as Fields;
  const written = await awaitNoted(before);
  const { access_token, refresh_token, ...rest } = body;
  const issued = [access_token, refresh_token].map((token = '') => token);
  const tokens = issued.map((token) => /^[\w-]{43}$/.test(token.replace(dateShape, '')));
  const dates = issued.flatMap((token) => dateShape.exec(token) ?? []);
  const {
    date: _date,
    'x-request-id': _id,
    'content-length': _length,
    ...headers
  } = Object.fromEntries(response.headers);
  const secrets = written.flatMap((row) => ('payload' in row ? [(row.payload as { jti?: string }).jti] : []));
  return {
    isOfEngine,
    dates: dates.map((date) => Number.parseInt(date, 36)),
    successors: successorDates(written),
    secrets: issued.map((token) => secrets.includes(token)),
    seen: {
      status: response.status,
      members: Object.keys(body),
      rest,
      tokens,
      headers,
      length: Number(response.headers.get('content-length')) - dates.join('').length,
      written: written
        .filter((row) => !isKeptAnswer(row))
        .map(undated)
        .map(steady)
        .map((row) => JSON.stringify(sorted(row)))
        .sort(),
    },
  };
}

/**
 * A row without the date of what followed, which only refresh tokens of the plain way have, and with whether it says where
 * it was used from: the digests are of that row alone.
 */
function undated(row: object): object {
  if (!('successors_at_ms' in row && 'used_from' in row)) return row;
  return { ...row, successors_at_ms: undefined, used_from: row.used_from !== null };
}

/** The dates by which what followed is found again. */
function successorDates(rows: readonly object[]): unknown[] {
  return rows
    .flatMap((row) => ('successors_at_ms' in row ? [row.successors_at_ms] : []))
    .filter((at) => at !== null);
}

/** The engine's answer is kept as it was; what is plain is found again by what it follows. */
function isKeptAnswer(row: object): boolean {
  return 'kind' in row && row.kind === 'RefreshAnswer';
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]): [string, unknown] => [name, sorted(member)])
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}

describe('a plain request', () => {
  it.each(Object.entries(plainly))(
    'with a %s gets, keeps and notes what the engine would give, keep and note (T-036, T-164, T-197)',
    async (_what, prepare) => {
      stopClock();
      const own = await prepare();
      const other = await prepare();
      const plain = await observe({ fields: own });
      const engine = await observe({ fields: { ...other, ...throughTheEngine } });
      expect([plain.isOfEngine, engine.isOfEngine]).toEqual([false, true]);
      expect(new Set(plain.dates)).toEqual(new Set([Date.now()]));
      expect([plain.dates.length, engine.dates.length]).toEqual([2, 0]);
      const isRefresh = 'refresh_token' in own;
      expect([plain.successors, engine.successors]).toEqual([isRefresh ? [Date.now()] : [], []]);
      expect(plain.seen).toEqual(engine.seen);
      expect(plain.seen).toMatchObject({ status: 200, tokens: [true, true] });
      expect(plain.secrets).toEqual([true, true]);
    },
  );

  it('follows one of the engine in a family, and the engine one of its own (T-043)', async () => {
    let fields = await obtainRefresh();
    for (const further of [throughTheEngine, {}, throughTheEngine, {}]) {
      const { response, isOfEngine } = await ask({ fields: { ...fields, ...further } });
      expect([response.status, isOfEngine]).toEqual([200, further === throughTheEngine]);
      fields = { ...fields, refresh_token: ((await response.json()) as Tokens).refresh_token };
    }
  });
});

/** Makes all refresh tokens like those of before, which have nothing that their successors are made of. */
function forgetSuccessors(): void {
  const box = createSealedBox(gatehouse.keys.sealing);
  const database = new Database(join(gatehouse.folder, 'gatehouse.db'));
  const rows = database
    .prepare("SELECT id, payload FROM artifacts WHERE kind = 'RefreshToken'")
    .all() as ArtifactColumns[];
  const replace = database.prepare("UPDATE artifacts SET payload = ? WHERE kind = 'RefreshToken' AND id = ?");
  for (const { id, payload } of rows) {
    const { successor: _successor, ...before } = JSON.parse(box.open(payload, `RefreshToken:${id}`));
    replace.run(box.seal(JSON.stringify(before), `RefreshToken:${id}`), id);
  }
  database.close();
}

describe('a plain refresh that is sent again within the grace window', () => {
  it.each([
    ['keeps no copy of its answer', () => undefined, 0],
    ['keeps its answer where the token is one of before', forgetSuccessors, 1],
  ])('%s, and gives the same tokens, to the engine as well (T-043, T-165)', async (_what, prepare, kept) => {
    const fields = await obtainRefresh();
    prepare();
    const before = readRows();
    const first = await ask({ fields });
    const tokens = (await first.response.json()) as Tokens;
    const written = [...readRows()].flatMap(([name, row]) => (before.has(name) ? [] : [row]));
    expect([first.isOfEngine, written.filter(isKeptAnswer).length]).toEqual([false, kept]);
    for (const further of [{}, throughTheEngine]) {
      const { response } = await ask({ fields: { ...fields, ...further } });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ ...tokens, expires_in: expect.any(Number) });
    }
    const noted = readRows();
    const { response } = await ask({ fields: { ...fields, scope: 'notes:read' } });
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_scope' }]);
    await awaitNoted(noted);
  });
});

/** Redeems what a request has, so that it is used. */
async function use(fields: Fields): Promise<Fields> {
  expect((await ask({ fields })).response.status).toBe(200);
  return fields;
}

const wrong: Record<string, () => Promise<Asked>> = {
  'an unknown refresh token': async () => ({
    fields: { ...(await obtainRefresh()), refresh_token: 'x'.repeat(43) },
  }),
  'an unknown client': async () => ({ fields: { ...(await obtainRefresh()), client_id: 'nobody' } }),
  'the refresh token of another client': async () => ({
    fields: { ...(await obtainRefresh()), client_id: (await register(gatehouse.url)).client_id },
  }),
  'the code of a client that has to prove who it is': async () => {
    const { client_id } = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    return { fields: (await obtainCode({}, client_id)).fields };
  },
  'an expired refresh token': async () => {
    const fields = await obtainRefresh();
    stopClock(31 * 86_400);
    return { fields };
  },
  'an expired consent': async () => {
    const fields = await obtainRefresh();
    stopClock(181 * 86_400);
    return { fields };
  },
  'a refresh token that was used long ago': async () => {
    const fields = await use(await obtainRefresh());
    stopClock(121);
    return { fields };
  },
  'a refresh token whose grant was revoked': async () => {
    const fields = await obtainRefresh();
    await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: fields.refresh_token ?? '' });
    return { fields };
  },
  'a resource that was not granted': async () => ({
    fields: { ...(await obtainRefresh()), resource: jwtResource },
  }),
  'a resource that is not ours': async () => ({
    fields: { ...(await obtainRefresh()), resource: 'https://elsewhere.example/mcp' },
  }),
  'an access token in the place of a refresh token': async () => {
    const fields = await obtainRefresh();
    const { response } = await ask({ fields });
    return { fields: { ...fields, refresh_token: ((await response.json()) as Tokens).access_token } };
  },
  'a wrong code verifier': async () => ({
    fields: { ...(await obtainCode()).fields, code_verifier: 'w'.repeat(43) },
  }),
  'a code verifier that is too short': async () => ({
    fields: { ...(await obtainCode()).fields, code_verifier: 'short' },
  }),
  'another redirect URI': async () => ({
    fields: { ...(await obtainCode()).fields, redirect_uri: 'http://127.0.0.1:1/callback' },
  }),
  'the code of another client': async () => ({
    fields: { ...(await obtainCode()).fields, client_id: (await register(gatehouse.url)).client_id },
  }),
  'an unknown code': async () => ({ fields: { ...(await obtainCode()).fields, code: 'c'.repeat(43) } }),
  'a code that was redeemed': async () => ({ fields: await use((await obtainCode()).fields) }),
  'an expired code': async () => {
    const { fields } = await obtainCode();
    stopClock(61);
    return { fields };
  },
  'a code of a clock ahead': async () => {
    const { fields } = await obtainCode();
    stopClock(-3_600);
    return { fields };
  },
};

describe('a request that looks plain', () => {
  it.each(Object.entries(wrong))(
    'with %s is refused by the engine, and leaves what the engine alone leaves (T-032 to T-044)',
    async (_what, prepare) => {
      const first = await prepare();
      const plain = await observe(first);
      vi.useRealTimers();
      const { fields } = await prepare();
      const engine = await observe({ fields: { ...fields, ...throughTheEngine } });
      expect(plain.seen.status).toBeGreaterThanOrEqual(400);
      expect(plain.isOfEngine).toBe(true);
      const { written: _ours, ...ours } = plain.seen;
      const { written: _theirs, ...theirs } = engine.seen;
      expect(ours).toEqual(theirs);
      expect(plain.seen.written.map(eventsOf)).toEqual(engine.seen.written.map(eventsOf));
    },
  );

  it('is refused where the account is shut meanwhile, and no grant comes back with it (T-166)', async () => {
    const fields = await obtainRefresh();
    const { accounts } = gatehouse.administration;
    await accounts.disable(ada.email);
    const { response, isOfEngine } = await ask({ fields });
    await accounts.enable(ada.email);
    expect([response.status, isOfEngine]).toEqual([400, true]);
    expect((await ask({ fields })).response.status).toBe(400);
  });
});

/** What a row is, without its times. */
function eventsOf(row: string): string {
  const { kind = 'audit', event = '' } = JSON.parse(row) as Fields;
  return `${kind} ${event}`;
}

describe('what is more than plain', () => {
  const more: Record<string, () => Promise<Asked>> = {
    'a scope': async () => ({ fields: { ...(await obtainRefresh()), scope: 'notes:read' } }),
    'an ID token': async () => ({ fields: await obtainRefresh({ scope: 'openid notes:read' }) }),
    'an origin': async () => ({
      fields: await obtainRefresh(),
      headers: { origin: 'https://page.example' },
    }),
    'another character set': async () => ({
      fields: await obtainRefresh(),
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=iso-8859-1' },
    }),
    'a token that is a JWT': async () => ({
      fields: await obtainRefresh({ resource: jwtResource, scope: 'files:read' }),
    }),
  };
  it.each(Object.entries(more))('is served by the engine: %s', async (_what, prepare) => {
    const { response, isOfEngine } = await ask(await prepare());
    expect([response.status, isOfEngine]).toEqual([200, true]);
  });
});
