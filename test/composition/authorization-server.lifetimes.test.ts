import { expect, it } from 'vitest';
import { composeLifetimes } from '../../src/composition/authorization-server.ts';
import { parseSettings } from '../../src/options.ts';

it('every lifetime of a setting reaches the authorization server', () => {
  const settings = parseSettings({
    tokens: { accessTokenSeconds: 11, codeSeconds: 12, refreshTokenSeconds: 13, grantSeconds: 14 },
    login: { sessionSeconds: 15, sessionIdleSeconds: 16, pageSeconds: 17, deviceCodeSeconds: 18 },
  });
  expect(composeLifetimes(settings)).toEqual({
    accessTokenSeconds: 11,
    codeSeconds: 12,
    refreshTokenSeconds: 13,
    grantSeconds: 14,
    sessionSeconds: 15,
    sessionIdleSeconds: 16,
    interactionSeconds: 17,
    deviceCodeSeconds: 18,
  });
});
