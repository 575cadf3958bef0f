import { createHmac } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { Deliver } from './exporter.ts';

/** Appends records to a file that only its owner can read, or writes them to standard output. @param file `-` for that */
export function deliverToFile(file: string): Deliver {
  if (file !== '-') return (lines) => appendFile(file, lines, { mode: 0o600 });
  return (lines) =>
    new Promise((resolve, reject) => {
      process.stdout.write(lines, (error) => (error ? reject(error) : resolve()));
    });
}

/** A request to the receiver of records. */
export interface Post {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
}

/**
 * Posts records as NDJSON.
 * @param secret key of the signature in `X-Gatehouse-Signature` (HMAC-SHA-256 of the body); none without it
 */
export function deliverByHttp(
  url: string,
  secret: string | undefined,
  post: (url: string, request: Post) => Promise<Response>,
): Deliver {
  return async (lines, { calls, audit }) => {
    const spans = Object.entries({ calls, audit }).flatMap(([kind, span]) =>
      span ? [`${kind}=${span.join('-')}`] : [],
    );
    const signature = secret && `sha256=${createHmac('sha256', secret).update(lines).digest('hex')}`;
    const headers = {
      'content-type': 'application/x-ndjson',
      'x-gatehouse-records': spans.join(' '),
      ...(signature && { 'x-gatehouse-signature': signature }),
    };
    const { ok, status } = await post(url, { method: 'POST', headers, body: lines });
    if (!ok) throw new Error(`the receiver of records responded with status ${status}`);
  };
}
