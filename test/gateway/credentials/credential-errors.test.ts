import { expect, test } from 'vitest';
import {
  credentialMissing,
  credentialRefused,
  credentialUnavailable,
  noPerson,
} from '../../../src/gateway/credentials/credential-errors.ts';

test('each says which server, what is wrong, what to do, and its reason', () => {
  const named = { backend: 'Notion', label: 'your Notion key' };
  const url = 'https://gate.example/account/credentials/notion';
  const missing = { name: 'n', key: 'k', message: 'It needs your key.', url, isGiven: async () => false };
  const errors = [
    credentialMissing(named, missing),
    credentialRefused(named, 'Enter another one.', url),
    noPerson(named),
    credentialUnavailable(named),
  ];
  for (const { code, message } of errors) {
    expect(code).toBe(-32603);
    expect(message).toMatch(/^The MCP server Notion .*(Open|Have it log in|Try again)/);
  }
  expect(errors.map(({ data }) => (data as { reason: string }).reason)).toEqual([
    'credential_missing',
    'credential_refused',
    'credential_no_person',
    'credential_unavailable',
  ]);
});
