import { expect, it } from 'vitest';
import { watchLinkedAccess } from '../../src/composition/upstreams.ts';
import type { AuthInfo } from '../../src/oauth/auth-info.ts';

const caller: AuthInfo = {
  issuer: 'https://gate.example',
  subject: 'ada',
  clientId: 'client',
  scopes: [],
  audience: 'https://gate.example/mcp',
  expiresAt: 2_000_000_000,
};

function watching() {
  const held: string[] = [];
  const ends: (() => void)[] = [];
  const access = watchLinkedAccess(
    {
      watch(_authInfo, onEnd) {
        ends.push(onEnd);
        return () => undefined;
      },
      close: () => undefined,
    },
    {
      hold(linkId) {
        held.push(linkId);
        return () => void held.splice(held.indexOf(linkId), 1);
      },
    },
  );
  return { held, ends, access };
}

it('a link is held while a stream is open for somebody who came through it (T-091)', () => {
  const { held, access } = watching();
  const stop = access.watch({ ...caller, upstreamLinkId: 'link' }, () => undefined);
  expect(held).toEqual(['link']);
  stop();
  expect(held).toEqual([]);
});

it('a link is let go when the access ends', () => {
  const { held, ends, access } = watching();
  let hasEnded = false;
  access.watch({ ...caller, upstreamLinkId: 'link' }, () => {
    hasEnded = true;
  });
  ends[0]?.();
  expect([held, hasEnded]).toEqual([[], true]);
});

it('nothing is held for a caller who came through no upstream', () => {
  const { held, access } = watching();
  access.watch(caller, () => undefined);
  expect(held).toEqual([]);
});
