import type { Change } from '../../../src/storage/artifacts.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { PutUpstreamLink } from '../../../src/storage/upstreams.ts';
import { account, grant, payload, startOfTime } from './subject.ts';

/** The issuer of every upstream here. */
export const issuer = 'https://idp.example';

/** The change that writes a link of an account; `more` over the defaults. */
export function link(id: string, accountId = 'ada', more: Partial<PutUpstreamLink> = {}): PutUpstreamLink {
  return {
    type: 'putUpstreamLink',
    id,
    accountId,
    upstream: 'idp',
    issuer,
    subject: `${accountId} there`,
    profile: payload(`profile of ${id}`),
    tokens: payload(`tokens of ${id}`),
    expiresAt: startOfTime + 60,
    provedAt: startOfTime,
    at: startOfTime,
    ...more,
  };
}

/** The change that adds a login there, called `sid of <id>` there; without a `sid` where that is null. */
export function upstreamSession(id: string, linkId: string, sid: string | null = `sid of ${id}`): Change {
  return {
    type: 'addUpstreamSession',
    id,
    linkId,
    at: startOfTime,
    ...(sid === null ? undefined : { sid }),
  };
}

/** The changes that write a grant and hang it on a login there. */
export function boundGrant(id: string, upstreamSessionId: string, accountId = 'ada'): Change[] {
  return [grant(id, accountId), { type: 'bindGrant', id, upstreamSessionId }];
}

/** Commits changes that are not refused. @throws where they are */
export async function commit({ artifacts }: Storage, ...changes: Change[]): Promise<void> {
  const result = await artifacts.commit(changes);
  if (!result.committed) throw new Error(`refused: ${JSON.stringify(result.conflict)}`);
}

/** Writes an account with a link, a login there, and a grant with an access token that hangs on it; all named by it. */
export async function putBound(storage: Storage, accountId = 'ada'): Promise<void> {
  await storage.accounts.add(account(accountId));
  const [linkId, sessionId, grantId] = ['link', 'session', 'grant'].map(
    (what) => `${what} of ${accountId}`,
  ) as [string, string, string];
  await commit(
    storage,
    { type: 'linkIdentity', issuer, subject: `${accountId} there`, accountId, at: startOfTime },
    link(linkId, accountId),
    upstreamSession(sessionId, linkId),
    ...boundGrant(grantId, sessionId, accountId),
    {
      type: 'put',
      kind: 'AccessToken',
      id: `token of ${accountId}`,
      grantId,
      payload: payload('token'),
      expiresAt: startOfTime + 50,
    },
    {
      type: 'put',
      kind: 'Session',
      id: `login of ${accountId}`,
      accountId,
      upstreamSessionId: sessionId,
      payload: payload('login'),
      expiresAt: startOfTime + 500,
    },
  );
}

/** The tokens that are to be revoked at a time, as text. */
export async function dueTokens({ upstreams }: Storage, at = startOfTime): Promise<string[]> {
  const due = await upstreams.dueRevocations(at, 100, 0);
  return due.map(({ tokens }) => Buffer.from(tokens).toString());
}
