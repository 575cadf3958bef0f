import { describe, expect, it } from 'vitest';
import { secretArguments, secretHeaders } from '../../../../src/doctor/machine/hosts/literal-secrets.ts';

const entry = (args: string[], headers: Record<string, string> = {}) => ({
  host: 'Cursor',
  file: 'mcp.json',
  name: 'a',
  args,
  headers,
});

/** As hosts write it. */
const variable = '$'.concat('{env:TOKEN}');

describe('secrets of a host', () => {
  it.each([
    [['--header', 'Authorization: Bearer abcdefgh12345'], 'header Authorization'],
    [['-H', 'X-Api-Key: abc'], 'header X-Api-Key'],
    [['Authorization:Bearer abcdefgh12345'], 'a bearer token'],
    [['--static-oauth-client-info', '{"client_id":"a","client_secret":"b"}'], 'client_secret'],
    [['--token=abc'], '--token'],
    [['--api-key', 'abc'], '--api-key'],
    [['https://user:pass@mcp.example.com/mcp'], 'a password in the URL'],
    [['https://mcp.example.com/mcp?api_key=abc'], 'api_key in the URL'],
  ])('in the arguments %j are found', (args, what) => {
    expect(secretArguments(entry(args))).toContain(what);
  });

  it.each([
    [['--header', `Authorization: Bearer ${variable}`]],
    [['--header', 'X-Team: a']],
    [['mcp-remote', 'https://mcp.example.com/mcp', '--token', '--verbose']],
    [['--token=$TOKEN']],
  ])('are none in %j', (args) => {
    expect(secretArguments(entry(args))).toEqual([]);
  });

  it('in headers are those with a value, not those that name a variable', () => {
    const headers = { Authorization: 'Bearer abc', 'X-Api-Key': variable, 'X-Team': 'a' };
    expect(secretHeaders(entry([], headers))).toEqual(['Authorization']);
  });
});
