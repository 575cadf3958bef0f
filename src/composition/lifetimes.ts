import type { Lifetimes } from '../authorization-server/index.ts';
import type { Settings } from '../options.ts';

/** How long everything lives that the authorization server gives out or asks for, in seconds. */
export function composeLifetimes({ tokens, login }: Pick<Settings, 'tokens' | 'login'>): Lifetimes {
  const { accessTokenSeconds, codeSeconds, refreshTokenSeconds, grantSeconds } = tokens;
  const { sessionSeconds, sessionIdleSeconds, pageSeconds, deviceCodeSeconds } = login;
  return {
    accessTokenSeconds,
    codeSeconds,
    refreshTokenSeconds,
    grantSeconds,
    sessionSeconds,
    sessionIdleSeconds,
    interactionSeconds: pageSeconds,
    deviceCodeSeconds,
  };
}
