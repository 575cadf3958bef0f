import { expect, it } from 'vitest';
import { secretsInQuery, urlWithoutSecrets, withoutSecrets } from '../../src/doctor/without-secrets.ts';

const said = { id: 'X', section: 'token', title: 'X', clause: '', verdict: 'fail' } as const;

it('a finding quotes no token, whatever the server sent (T-191)', () => {
  const clean = withoutSecrets(
    {
      ...said,
      saw: 'It answered {"access_token":"abcdefghijk"} and eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
      fix: 'Do not send ?code=abcdefgh',
    },
    'https://mcp.example.com/mcp',
  );
  expect(clean.saw).toBe('It answered {"access_token":"<secret:access_token>"} and <secret:jwt>');
  expect(clean.fix).toBe('Do not send ?code=<secret:code>');
});

it('neither a report nor its findings hold what the URL under examination keeps secret (T-191)', () => {
  const url = 'https://bob:open-sesame@mcp.example.com/mcp?api_key=0123456789&x=1';
  expect(urlWithoutSecrets(url)).toBe(
    'https://<secret:userinfo>@mcp.example.com/mcp?api_key=<secret:api_key>&x=1',
  );
  const clean = withoutSecrets(
    {
      ...said,
      saw: `The URL "${url}" is refused.`,
      fix: 'Leave 0123456789 out.',
      hints: [{ product: 'nginx', lines: '# 0123456789' }],
    },
    url,
  );
  expect(JSON.stringify(clean)).not.toMatch(/sesame|0123456789/);
  expect(clean.saw).toContain('mcp.example.com/mcp');
});

it.each([
  ['https://mcp.example.com/mcp?api_key=0123456789&x=1&token=a', ['api_key', 'token']],
  ['https://mcp.example.com/mcp?page=2#token=a', []],
  ['no URL', []],
])('of %j the secrets in the query are known by their names', (url, names) => {
  expect(secretsInQuery(url)).toEqual(names);
});
