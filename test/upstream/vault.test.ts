import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSealedBox, SealBroken } from '../../src/crypto/sealed-box.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { UpstreamIdentity, UpstreamTokens } from '../../src/upstream/upstream.ts';
import { createVault } from '../../src/upstream/vault.ts';
import { account, openForTest, startOfTime } from '../storage/contract/subject.ts';
import { openNewDatabase } from '../storage/sqlite/subject.ts';

const key = { id: 'k', key: randomBytes(32).toString('base64url') };
const vault = createVault(createSealedBox([key]), () => startOfTime);
const upstream = { name: 'work' };
const lin: UpstreamIdentity = {
  issuer: 'https://work.example',
  subject: '1001',
  email: 'lin@work.example',
  claims: { email: 'lin.unverified@work.example', groups: ['staff'] },
};
const first: UpstreamTokens = {
  accessToken: 'canary-access-1',
  refreshToken: 'canary-refresh-1',
  expiresAt: startOfTime + 3600,
  scopes: ['openid'],
};

let storage: Storage;
beforeEach(async () => {
  storage = await openForTest(openNewDatabase);
  await storage.accounts.add(account('ada'));
});

const held = () => storage.upstreams.findOfAccount('ada', 'work');

async function logIn(tokens: UpstreamTokens, identity = lin) {
  const present = await held();
  const login = vault.changesOfLogin({ upstream, accountId: 'ada', identity, tokens, sid: 'sid-1', present });
  expect(await storage.artifacts.commit(login.changes)).toEqual({ committed: true });
  const link = await held();
  if (!link) throw new Error('no link');
  return { ...login, link };
}

describe('the vault', () => {
  it('keeps tokens and profile sealed, each for its own row and use (T-094)', async () => {
    const { link } = await logIn(first);
    expect(vault.open(link)).toEqual(first);
    expect(vault.profileOf(link)).toEqual({ groups: ['staff'], email: 'lin@work.example' });
    const stored = Buffer.concat([Buffer.from(link.tokens ?? []), Buffer.from(link.profile)]).toString(
      'latin1',
    );
    for (const secret of ['canary', 'lin@work', 'staff']) expect(stored).not.toContain(secret);
    expect(() => vault.open({ ...link, id: 'another' })).toThrow(SealBroken);
    expect(() => vault.profileOf({ ...link, profile: link.tokens ?? link.profile })).toThrow(SealBroken);
    const other = createVault(
      createSealedBox([{ ...key, key: randomBytes(32).toString('base64url') }]),
      () => 0,
    );
    expect(() => other.open(link)).toThrow(SealBroken);
  });

  it('keeps the refresh token it has where a login brings none (AS-4)', async () => {
    await logIn(first);
    const second = { accessToken: 'canary-access-2', scopes: ['openid'] };
    const { link } = await logIn(second);
    expect(vault.open(link)).toEqual({ ...second, refreshToken: 'canary-refresh-1' });
    const third = { ...second, refreshToken: 'canary-refresh-3' };
    expect(vault.open((await logIn(third)).link)?.refreshToken).toBe('canary-refresh-3');
  });

  it('does not give the refresh token of one person to another', async () => {
    const { link } = await logIn(first);
    const identity = { ...lin, subject: '1002' };
    const tokens = { accessToken: 'canary-access-2', scopes: [] };
    const login = vault.changesOfLogin({ upstream, accountId: 'ada', identity, tokens, present: link });
    const [put] = login.changes;
    if (put?.type !== 'putUpstreamLink') throw new Error('no link is written');
    expect(vault.openTokens(link.id, put.tokens)).toEqual(tokens);
  });

  it('makes each login a session of its own, and a set of tokens the next generation', async () => {
    const one = await logIn(first);
    const two = await logIn(first);
    expect(two.sessionId).not.toBe(one.sessionId);
    expect(two.link.id).toBe(one.link.id);
    expect(two.link.generation).toBe(one.link.generation + 1);
    expect((await storage.upstreams.linkOfSession(one.sessionId))?.id).toBe(one.link.id);
  });

  it('loses no tokens to another login at the same moment: the later one is told', async () => {
    const { link } = await logIn(first);
    const late = vault.changesOfLogin({
      upstream,
      accountId: 'ada',
      identity: lin,
      tokens: first,
      present: link,
    });
    await logIn({ ...first, accessToken: 'canary-access-2' });
    expect(await storage.artifacts.commit(late.changes)).toMatchObject({ committed: false });
  });
});
