import type { EndpointLimits } from '../endpoint-limits/endpoint-limits.ts';
import {
  answerWithOAuthError,
  type EndpointFamily,
  neverStore,
  type Step,
} from '../endpoints/endpoint-guards.ts';
import { readFormBody } from '../endpoints/form-body.ts';

/**
 * Takes a logout token that was sent to an upstream's logout address; gives why it was refused, by a name, or what ended.
 */
export type TakeLogoutToken = (
  upstream: string,
  logoutToken: string,
) => Promise<{ ended: object } | { refused: string }>;

const pattern = /^\/upstream\/([a-z0-9-]{1,32})\/backchannel-logout$/;

/** Error descriptions for faults other than those of the token, which all get the same response. */
const sentences: Readonly<Record<string, string>> = {
  logout_token_used: 'this logout token was used before',
};

/**
 * Creates an endpoint for each upstream, to which it reports that a login there has ended. All that was issued because
 * of this login has ended when the response is sent. Only rejected requests count for its limit, because a provider
 * logs out many users at once.
 * @see OpenID Connect Back-Channel Logout 1.0 sections 2.5 and 2.8 (T-091)
 */
export function createLogoutTokenEndpoint(
  take: TakeLogoutToken,
  limitOf: Pick<EndpointLimits, 'failures'>,
): EndpointFamily {
  const answer =
    (path: string): Step =>
    async (ctx) => {
      const form = await readFormBody(ctx);
      if (!form) return;
      const [logoutToken, ...more] = form.getAll('logout_token');
      if (logoutToken === undefined || more.length > 0)
        return answerWithOAuthError(ctx, 400, 'invalid_request', 'send one logout_token, as a form');
      const outcome = await take(pattern.exec(path)?.[1] ?? '', logoutToken);
      if ('refused' in outcome && outcome.refused === 'unknown_upstream')
        return answerWithOAuthError(ctx, 404, 'not_found', 'there is no upstream at this address');
      if ('refused' in outcome)
        return answerWithOAuthError(
          ctx,
          400,
          'invalid_request',
          sentences[outcome.refused] ?? 'the logout token is not accepted',
        );
      ctx.status = 200;
      ctx.body = '';
    };
  return {
    path: '/upstream/<name>/backchannel-logout',
    pattern,
    methods: ['POST'],
    limits: [limitOf.failures('logout tokens')],
    steps: (path) => [neverStore, answer(path)],
  };
}
