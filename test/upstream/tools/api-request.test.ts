import { describe, expect, it } from 'vitest';
import { readApiRequest } from '../../../src/upstream/tools/api-request.ts';

describe('what a tool sends to an API', () => {
  it('is a GET without a body unless the tool says otherwise', async () => {
    expect(await readApiRequest({})).toEqual({ method: 'GET', headers: new Headers() });
  });

  it.each([
    ['text', 'a word', 'a word', 'text/plain;charset=UTF-8'],
    ['a form', new URLSearchParams({ a: 'b c' }), 'a=b+c', 'application/x-www-form-urlencoded;charset=UTF-8'],
    ['bytes', new Uint8Array([104, 105]), 'hi', null],
    ['a stream', new Blob(['streamed']).stream(), 'streamed', null],
  ] as const)('has its body whole, so that it can be sent again: %s', async (_kind, body, sent, type) => {
    const { method, headers, body: whole } = await readApiRequest({ method: 'put', body });
    expect([method, Buffer.from(whole ?? []).toString(), headers.get('content-type')]).toEqual([
      'PUT',
      sent,
      type,
    ]);
  });

  it('has the content type the tool gave, and no Authorization of the tool', async () => {
    const { headers } = await readApiRequest({
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', authorization: 'Bearer of the tool', 'x-a': 'b' },
    });
    expect(Object.fromEntries(headers)).toEqual({ 'content-type': 'application/json', 'x-a': 'b' });
  });

  it('names no host of the tool, and is framed by nobody else: the certificate asked for would be that of another (T-093)', async () => {
    const given = {
      host: 'evil.example',
      connection: 'upgrade',
      upgrade: 'h2c',
      'content-length': '3',
      'transfer-encoding': 'chunked',
      'proxy-authorization': 'Basic x',
      accept: 'text/plain',
    };
    const { headers } = await readApiRequest({ method: 'POST', body: new Uint8Array(9), headers: given });
    expect(Object.fromEntries(headers)).toEqual({ accept: 'text/plain' });
  });

  it('is not too large', async () => {
    const body = new Uint8Array(16 * 1024 * 1024 + 1);
    await expect(readApiRequest({ method: 'POST', body })).rejects.toMatchObject({
      reason: 'body_not_allowed',
    });
  });
});
