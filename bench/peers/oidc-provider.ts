// oidc-provider on a plain SQLite adapter, one autocommit a call: node oidc-provider.ts FULL|NORMAL jwt|opaque
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';
import { openDatabase } from './database.ts';

const [synchronous = 'FULL', format = 'jwt'] = process.argv.slice(2);
const port = Number(process.env.PORT);
const resource = 'https://mcp.example.com/mcp';
const scope = 'mcp:tools';
const clientId = 'bench';
const now = (): number => Math.floor(Date.now() / 1000);

const db = openDatabase(synchronous);
db.exec(`CREATE TABLE oidc (model TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL, grant_id TEXT, uid TEXT,
    user_code TEXT, expires_at INTEGER, consumed_at INTEGER, PRIMARY KEY (model, id)) WITHOUT ROWID;
  CREATE INDEX oidc_grant ON oidc (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX oidc_uid ON oidc (uid) WHERE uid IS NOT NULL;
  CREATE INDEX oidc_expires ON oidc (expires_at)`);

interface Stored {
  payload: string;
  consumed_at: number | null;
  expires_at: number | null;
}

const columns = 'payload, consumed_at, expires_at';
const put = db.prepare(
  `INSERT INTO oidc (model, id, payload, grant_id, uid, user_code, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
     uid = excluded.uid, user_code = excluded.user_code, expires_at = excluded.expires_at`,
);
const find = db.prepare<[string, string], Stored>(`SELECT ${columns} FROM oidc WHERE model = ? AND id = ?`);
const findByUid = db.prepare<[string, string], Stored>(
  `SELECT ${columns} FROM oidc WHERE uid = ? AND model = ?`,
);
const findByUserCode = db.prepare<[string, string], Stored>(
  `SELECT ${columns} FROM oidc WHERE user_code = ? AND model = ?`,
);
const consume = db.prepare('UPDATE oidc SET consumed_at = ? WHERE model = ? AND id = ?');
const remove = db.prepare('DELETE FROM oidc WHERE model = ? AND id = ?');
const removeGrant = db.prepare('DELETE FROM oidc WHERE grant_id = ?');

function read(row: Stored | undefined): AdapterPayload | undefined {
  if (!row || (row.expires_at !== null && row.expires_at < now())) return undefined;
  const payload: AdapterPayload = JSON.parse(row.payload);
  return row.consumed_at === null ? payload : { ...payload, consumed: row.consumed_at };
}

const adapter = (model: string): Adapter => ({
  async upsert(id, payload, expiresIn) {
    const { uid = null, userCode = null } = payload;
    const grantId = model === 'Session' ? null : (payload.grantId ?? null);
    const expiresAt = expiresIn ? now() + expiresIn : null;
    put.run(model, id, JSON.stringify(payload), grantId, uid, userCode, expiresAt);
  },
  find: async (id) => read(find.get(model, id)),
  findByUid: async (uid) => read(findByUid.get(uid, model)),
  findByUserCode: async (userCode) => read(findByUserCode.get(userCode, model)),
  async consume(id) {
    consume.run(now(), model, id);
  },
  async destroy(id) {
    remove.run(model, id);
  },
  async revokeByGrantId(grantId) {
    removeGrant.run(grantId);
  },
});

const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter,
  clients: [
    {
      client_id: clientId,
      token_endpoint_auth_method: 'none',
      redirect_uris: ['https://client.example.com/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope,
    },
  ],
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
  scopes: ['openid', 'offline_access', scope],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope,
        audience: resource,
        accessTokenTTL: 3600,
        accessTokenFormat: format === 'opaque' ? 'opaque' : 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
  findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  expiresWithSession: () => false,
  // Everybody has consented already: the bench measures what comes behind that.
  async loadExistingGrant(ctx) {
    const { session, client } = ctx.oidc;
    if (!session?.accountId || !client) return undefined;
    const known = session.grantIdFor(client.clientId);
    if (known) return provider.Grant.find(known);
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope(scope);
    grant.addResourceScope(resource, scope);
    await grant.save();
    return grant;
  },
});

// Gives the bench a browser that is logged in.
provider.use(async (ctx, next) => {
  if (ctx.path !== '/bench/login') return next();
  const session = new provider.Session();
  session.loginAccount({ accountId: 'bench', loginTs: now() });
  await session.save(86_400);
  ctx.body = { cookie: `_session=${session.jti}`, clientId };
});
provider.on('server_error', (_ctx, error) => console.error(error));
provider.listen(port, '127.0.0.1', 4096);
process.on('SIGTERM', () => process.exit(0));
