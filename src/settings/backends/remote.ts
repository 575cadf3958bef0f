import { z } from 'zod';

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
      z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'must be the name of a header' }),
      z.string(),
    )
    .default({})
    .describe('headers of every request to it; their values are secrets'),
});

/** A server by URL behind the gate, as it was set. */
export type RemoteBackendSettings = z.output<typeof remoteBackendSettings>;
