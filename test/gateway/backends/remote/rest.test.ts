import { describe, expect, it } from 'vitest';
import type { CredentialSource } from '../../../../src/gateway/credentials/credentials.ts';
import { backendAt, begin, begins, json, serve } from '../stdio/support/talk.ts';

describe('a server over Rest', () => {
  it('gets ids no other client has, and credentials in _meta.auth beside what the caller put there (B7-13, B7-16, B7-17)', async () => {
    const { url, asked } = await serve((request, response) => {
      if (!begins(request, response)) json(response, { id: request.body.id, result: {} });
    });
    const credentials: CredentialSource = {
      find: async ({ subject }) => ({ auth: { KEY: `of ${subject}` } }),
      onChange: () => () => undefined,
    };
    const backend = backendAt({ url, transport: 'rest' }, credentials);
    for (const subject of ['ada', 'grace']) {
      const talk = await begin(backend, subject);
      const answer = await talk.ask('tools/call', { name: 'x', _meta: { mine: 1, auth: { KEY: 'stolen' } } });
      expect(answer.result).toEqual({});
    }
    const calls = asked.filter(({ body }) => body.method === 'tools/call').map(({ body }) => body);
    expect(calls.map((one) => one.params?._meta)).toEqual([
      { mine: 1, auth: { KEY: 'of ada' } },
      { mine: 1, auth: { KEY: 'of grace' } },
    ]);
    expect(new Set(asked.map(({ body }) => body.id)).size).toBe(asked.length);
    expect(asked.every(({ body }) => typeof body.id === 'string')).toBe(true);
  });

  it('that answers with an empty array had no time; what needs a way back is refused here (B7-09, B7-14)', async () => {
    const { url, asked } = await serve((request, response) => {
      if (!begins(request, response))
        response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
    });
    const talk = await begin(backendAt({ url, transport: 'rest' }));
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe('backend_timed_out');
    expect((await talk.ask('resources/subscribe', { uri: 'a:1' })).error?.code).toBe(-32601);
    expect(asked.map(({ body }) => body.method)).toEqual(['initialize', 'tools/call']);
  });
});
