import { z } from 'zod';
import { day, seconds } from './times.ts';

/** The settings of tokens: how long they live and what they are. */
export const tokenSettings = z
  .strictObject({
    accessTokenSeconds: seconds(3600, day, 'life of an access token'),
    codeSeconds: seconds(60, 600, 'life of an authorization code'),
    refreshTokenSeconds: seconds(30 * day, 365 * day, 'life of a refresh token that is not used'),
    grantSeconds: seconds(180 * day, 730 * day, 'life of a consent, however often it is refreshed'),
    refreshGraceSeconds: z
      .int()
      .min(0)
      .max(600)
      .default(120)
      .describe('how long a refresh token that was used gives the same answer again; 0 for never'),
    repeatFromOtherAddress: z
      .enum(['allow', 'end'])
      .default('allow')
      .describe(
        'what becomes of a used refresh token that comes again in that time from another address: allow gives the same answer again, end ends the grant; both are in the audit log (token.repeated)',
      ),
    format: z
      .enum(['opaque', 'jwt'])
      .default('opaque')
      .describe(
        'what access tokens for the MCP endpoint are: opaque ones are looked up; jwt can be checked by others, too, such as a gateway in front',
      ),
    dpop: z
      .strictObject({
        required: z
          .boolean()
          .default(false)
          .describe(
            'whether the MCP endpoint takes only access tokens that are bound to a key of the client; entries of resources follow, unless they say dpopRequired',
          ),
        requireNonce: z
          .boolean()
          .default(false)
          .describe('whether each proof has to hold a nonce that this server gave out'),
      })
      .prefault({})
      .describe('access tokens that are bound to a key of the client (DPoP)'),
  })
  .prefault({})
  .describe('Lifetimes of what is issued.');
