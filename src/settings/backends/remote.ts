import { z } from 'zod';
import { headerNameForm } from '../../oauth/header-form.ts';
import { isOwnHeader } from '../../oauth/own-headers.ts';

function isServerUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    (url?.protocol === 'https:' || url?.protocol === 'http:') &&
    url.username === '' &&
    url.password === '' &&
    url.hash === ''
  );
}

/** A backend that is reached by URL. */
export const remoteBackendSettings = z.strictObject({
  url: z
    .string()
    .refine(isServerUrl, { error: 'must be an absolute http or https URL without user name or fragment' })
    .describe('where the MCP server is'),
  transport: z
    .enum(['auto', 'http', 'sse', 'rest'])
    .default('auto')
    .describe('how it is spoken to: Streamable HTTP, HTTP+SSE, Rest, or what it turns out to speak'),
  headers: z
    .record(
      z
        .string()
        .regex(headerNameForm, { error: 'must be the name of a header' })
        .refine((name) => !isOwnHeader(name), {
          error: 'is set by this server itself: leave it out',
        }),
      z.union([
        z.string().min(1).describe('its value, a secret'),
        z.strictObject({ env: z.string().min(1).describe('the variable of the environment with its value') }),
        z.strictObject({
          file: z.string().min(1).describe('the file with its value; nobody else may read it'),
        }),
      ]),
    )
    .default({})
    .describe('headers of every request to it'),
  maxConnections: z
    .int()
    .min(2)
    .max(100_000)
    .default(1000)
    .describe(
      'most connections to it, half for calls and half for streams of sessions; an account has a fifth of each at most',
    ),
  pingSeconds: z
    .int()
    .min(0)
    .max(3600)
    .default(60)
    .describe(
      'how long a session there may say nothing until it is pinged, in seconds; one that misses pings is left for a new one; 0 for never',
    ),
  maxAnswerValues: z
    .int()
    .min(1000)
    .max(10_000_000)
    .default(50_000)
    .describe(
      'most values in one of its answers, arrays and objects included; a million hold up everybody for half a second',
    ),
  dangerouslyPlainHttpBecause: z
    .string()
    .min(10)
    .optional()
    .describe(
      'why http may be spoken with it on the public internet, where everybody on the way reads and changes it; without a reason http goes to this machine and private networks only',
    ),
});

/** A server by URL behind the gate, as it was set. */
export type RemoteBackendSettings = z.output<typeof remoteBackendSettings>;
