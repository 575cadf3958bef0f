import { expect, it } from 'vitest';
import { remoteBackendSettings } from '../../../src/settings/backends/remote.ts';

it('a server by URL is spoken to as it turns out to speak, and gets no headers of ours', () => {
  const url = 'https://tools.example/mcp';
  expect(remoteBackendSettings.parse({ url })).toEqual({
    url,
    transport: 'auto',
    headers: {},
    maxConnections: 1000,
    maxAnswerValues: 50_000,
    pingSeconds: 60,
  });
});

it('a server by URL has headers with values, or with where they stand', () => {
  const headers = { 'x-api-key': { env: 'API_KEY' }, 'x-tenant': 'a', authorization: { file: '/run/key' } };
  const url = 'http://notes:3000/mcp';
  expect(remoteBackendSettings.parse({ url, headers }).headers).toEqual(headers);
});

it.each([
  { url: 'ftp://tools.example' },
  { url: 'https://user:secret@tools.example/mcp' },
  { url: '/mcp' },
  { url: 'https://tools.example/mcp', transport: 'websocket' },
  { url: 'https://tools.example/mcp', headers: { 'a b': 'c' } },
  { url: 'https://tools.example/mcp', headers: { 'Mcp-Name': 'c' } },
  { url: 'https://tools.example/mcp', headers: { 'proxy-key': 'c' } },
  { url: 'https://tools.example/mcp', headers: { a: { env: 'A', file: 'b' } } },
  { url: 'https://tools.example/mcp', maxConnections: 1 },
  { url: 'https://tools.example/mcp', dangerouslyPlainHttpBecause: '' },
])('a server by URL is no %j', (value) => {
  expect(remoteBackendSettings.safeParse(value).success).toBe(false);
});
