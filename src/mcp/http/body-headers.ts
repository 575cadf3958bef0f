import type { Refusal } from './refusal.ts';

/**
 * Checks the announced length, before a byte of the body is read (T-134). The connection ends with the answer, so
 * that the rest is not read either.
 * @param contentLength the `Content-Length` header
 * @param maxBytes largest body
 */
export function checkContentLength(contentLength: string | undefined, maxBytes: number): Refusal | undefined {
  if (contentLength === undefined || Number(contentLength) <= maxBytes) return undefined;
  return bodyTooLarge;
}

/** The refusal of a body over the limit, announced or found while reading. */
export const bodyTooLarge: Refusal = { reason: 'body_too_large', headers: { Connection: 'close' } };

/**
 * Checks that the body is announced as JSON in UTF-8 (RFC 8259 section 8.1).
 * @param contentType the `Content-Type` header
 */
export function checkContentType(contentType: string | undefined): Refusal | undefined {
  if (contentType === 'application/json') return undefined;
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') return { reason: 'not_json_type' };
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset='));
  const foreign = charsets.some((parameter) => !/^charset="?utf-?8"?$/.test(parameter));
  return foreign ? { reason: 'charset_not_utf8' } : undefined;
}

/**
 * Checks that the body is not compressed: what is small on the wire may be huge in memory.
 * @param contentEncoding the `Content-Encoding` header
 */
export function checkContentEncoding(contentEncoding: string | undefined): Refusal | undefined {
  if (contentEncoding === undefined) return undefined;
  const coding = contentEncoding.trim().toLowerCase();
  return coding === '' || coding === 'identity' ? undefined : { reason: 'body_is_encoded' };
}
