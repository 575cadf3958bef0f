import { expect, it } from 'vitest';
import { remoteBackendSettings } from '../../../src/settings/backends/remote.ts';

it('a server by URL is spoken to as it turns out to speak, and gets no headers of ours', () => {
  const url = 'https://tools.example/mcp';
  expect(remoteBackendSettings.parse({ url })).toEqual({ url, transport: 'auto', headers: {} });
});

it.each([
  { url: 'ftp://tools.example' },
  { url: 'https://user:secret@tools.example/mcp' },
  { url: '/mcp' },
  { url: 'https://tools.example/mcp', transport: 'websocket' },
  { url: 'https://tools.example/mcp', headers: { 'a b': 'c' } },
])('a server by URL is no %j', (value) => {
  expect(remoteBackendSettings.safeParse(value).success).toBe(false);
});
