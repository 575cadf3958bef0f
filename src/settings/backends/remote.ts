import { z } from 'zod';
import { headerNamePattern, isOwnHeader } from '../../oauth/headers.ts';
import { remoteCallerSettings } from './caller.ts';

function isServerUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    (url?.protocol === 'https:' || url?.protocol === 'http:') &&
    url.username === '' &&
    url.password === '' &&
    url.hash === ''
  );
}

/** Setting: a backend reached by URL. */
export const remoteBackendSettings = z.strictObject({
  url: z
    .string()
    .refine(isServerUrl, { error: 'must be an absolute http or https URL without user name or fragment' })
    .describe('URL of the MCP server'),
  transport: z
    .enum(['auto', 'http', 'sse', 'rest'])
    .default('auto')
    .describe('transport: Streamable HTTP, HTTP+SSE, Rest, or detected automatically'),
  headers: z
    .record(
      z
        .string()
        .regex(headerNamePattern, { error: 'must be the name of a header' })
        .refine((name) => !isOwnHeader(name), {
          error: 'is set by this server itself: leave it out',
        }),
      z.union([
        z.string().min(1).describe('its value, a secret'),
        z.strictObject({ env: z.string().min(1).describe('environment variable with its value') }),
        z.strictObject({
          file: z.string().min(1).describe('file with its value, readable by its owner only'),
        }),
      ]),
    )
    .default({})
    .describe('headers of every request to it'),
  caller: remoteCallerSettings,
  maxConnections: z
    .int()
    .min(2)
    .max(100_000)
    .default(1000)
    .describe(
      'maximum connections, half for calls and half for session streams; an account has at most a fifth of each',
    ),
  pingSeconds: z
    .int()
    .min(0)
    .max(3600)
    .default(60)
    .describe(
      'seconds without a message after which a session is pinged; a session that misses pings is replaced; 0 for never',
    ),
  maxAnswerValues: z
    .int()
    .min(1000)
    .max(10_000_000)
    .default(50_000)
    .describe(
      'maximum number of values in a response, arrays and objects included; a million block the server for half a second',
    ),
  dangerouslyPlainHttpBecause: z
    .string()
    .min(10)
    .optional()
    .describe(
      'reason to use http on the public internet, where everybody on the way can read and change it; without a reason http is allowed only to this machine and private networks',
    ),
});

/** A backend by URL after parsing. */
export type RemoteBackendSettings = z.output<typeof remoteBackendSettings>;
