import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { toWebRequest } from '../../../src/mcp/http/exchange.ts';
import { HeldBytes } from '../../../src/mcp/http/held-bytes.ts';
import { createPulse, NodeReply } from '../../../src/mcp/http/node-reply.ts';
import { createWriteBatcher } from '../../../src/net/write-batcher.ts';

const exchange = {
  method: 'POST',
  headers: {
    authorization: 'Bearer secret',
    'proxy-authorization': 'Basic secret',
    cookie: 'session=secret',
    accept: '*/*',
    'content-type': 'application/json',
    'content-length': '12',
    'mcp-session-id': 'abc',
    'mcp-param-region': 'eu',
  },
  body: Readable.from([]),
  authInfo: {
    issuer: 'https://as.example.com',
    subject: 'ann',
    clientId: 'client-1',
    scopes: [],
    audience: 'https://mcp.example.com/mcp',
    expiresAt: 1_800_000_000,
  },
  query: '',
  reply: new NodeReply(
    new ServerResponse(new IncomingMessage(new Socket())),
    createPulse(20_000),
    createWriteBatcher(),
    { held: new HeldBytes() },
  ),
};
const url = new URL('https://mcp.example.com/mcp');

describe('the request an MCP server sees', () => {
  it('holds no credentials (A7-04, T-105)', () => {
    const request = toWebRequest(exchange, url);
    expect(JSON.stringify([...request.headers])).not.toContain('secret');
    expect(Object.fromEntries(request.headers)).toEqual({
      accept: '*/*',
      'content-type': 'application/json',
      'mcp-session-id': 'abc',
      'mcp-param-region': 'eu',
    });
  });

  it('has the public URL, whatever the client called us', () => {
    expect(toWebRequest(exchange, url).url).toBe('https://mcp.example.com/mcp');
  });
});
