import { ApiRefusal } from './api-refusal.ts';

/** A request to an API that can be sent more than once. */
export interface ApiRequest {
  method: string;
  headers: Headers;
  body?: Uint8Array;
}

/** Largest body a tool may send, in bytes. */
const maxBodyBytes = 16 * 1024 * 1024;

/** Headers that are not a tool's to set: whose token it is, whose host is asked, and how the request is framed. */
const ownHeaders = [
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Reads what a tool gave as for `fetch`, its body whole: it may have to be sent again with a renewed token.
 * @throws ApiRefusal where the body is too large
 */
export async function readApiRequest({ method = 'GET', headers, body }: RequestInit): Promise<ApiRequest> {
  const whole: ApiRequest = { method: method.toUpperCase(), headers: new Headers(headers) };
  for (const name of ownHeaders) whole.headers.delete(name);
  if (body === undefined || body === null) return whole;
  const read = new Response(body);
  const type = read.headers.get('content-type');
  if (type !== null && !whole.headers.has('content-type')) whole.headers.set('content-type', type);
  whole.body = await read.bytes();
  if (whole.body.byteLength > maxBodyBytes)
    throw new ApiRefusal('body_not_allowed', `The tool sends more than ${maxBodyBytes} bytes.`);
  return whole;
}
