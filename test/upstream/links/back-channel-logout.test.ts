import { describe, expect, it } from 'vitest';
import { createBackChannelLogout } from '../../../src/upstream/links/back-channel-logout.ts';
import type { LogoutToken } from '../../../src/upstream/upstream.ts';
import { UpstreamFault } from '../../../src/upstream/upstream-fault.ts';
import { startOfTime } from '../../storage/contract/subject.ts';
import { startBond } from './subject.ts';

const token: LogoutToken = { issuer: 'https://work.example', jti: 'one', expiresAt: startOfTime + 100 };

async function start(reads: Record<string, LogoutToken | UpstreamFault>) {
  const subject = await startBond();
  const used = new Set<string>();
  const take = createBackChannelLogout({
    upstreams: {
      find: (name) =>
        name === 'work'
          ? {
              name,
              async readLogoutToken(jwt) {
                const read = reads[jwt];
                if (!read || read instanceof UpstreamFault) throw read;
                return read;
              },
            }
          : undefined,
    },
    store: subject.store,
    used: {
      isUsed: async (_upstream, jti) => used.has(jti),
      use: async (_upstream, jti) => void used.add(jti),
    },
    events: subject.events,
  });
  await subject.link('a');
  await subject.link('b', {}, { accountId: 'bob' });
  const stands = async (id: string) =>
    (await subject.storage.artifacts.findGrant(`grant of ${id}`)) !== undefined;
  return { ...subject, take, used, stands };
}

describe('a logout token', () => {
  it('ends what came through the session it names, and nothing else (T-091)', async () => {
    const { take, stands, recorded } = await start({ jwt: { ...token, sid: 'sid of a' } });
    expect(await take('work', 'jwt')).toEqual({ ended: { grants: 1 } });
    expect([await stands('a'), await stands('b')]).toEqual([false, true]);
    expect(recorded).toEqual([
      { event: 'upstream.logout', details: { upstream: 'work', by: 'session', grants: '1' } },
    ]);
  });

  it('ends everything of the subject it names without a session (T-091)', async () => {
    const { take, stands } = await start({ jwt: { ...token, subject: 'subject of bob' } });
    expect(await take('work', 'jwt')).toEqual({ ended: { grants: 1 } });
    expect([await stands('a'), await stands('b')]).toEqual([true, false]);
  });

  it('of a session of somebody else than it names ends nothing', async () => {
    const { take, stands } = await start({ jwt: { ...token, sid: 'sid of a', subject: 'subject of bob' } });
    expect(await take('work', 'jwt')).toEqual({ ended: { grants: 0 } });
    expect([await stands('a'), await stands('b')]).toEqual([true, true]);
  });

  it('counts once (T-091)', async () => {
    const { take, link, stands, recorded } = await start({ jwt: { ...token, sid: 'sid of a' } });
    await take('work', 'jwt');
    await link('a2', {}, { accountId: 'carol' });
    expect(await take('work', 'jwt')).toEqual({ refused: 'logout_token_used' });
    expect(await stands('a2')).toBe(true);
    expect(recorded.at(-1)?.details).toEqual({ upstream: 'work', reason: 'logout_token_used' });
  });

  it('that is not good ends nothing, and is noted by its fault', async () => {
    const { take, stands, recorded } = await start({
      jwt: new UpstreamFault('work', 'refused', 'jwt_signature'),
    });
    expect(await take('work', 'jwt')).toEqual({ refused: 'jwt_signature' });
    expect(await stands('a')).toBe(true);
    expect(recorded).toEqual([
      { event: 'upstream.logout_refused', details: { upstream: 'work', reason: 'jwt_signature' } },
    ]);
  });

  it('for an upstream that is not there is refused', async () => {
    const { take } = await start({});
    expect(await take('play', 'jwt')).toEqual({ refused: 'unknown_upstream' });
  });
});
