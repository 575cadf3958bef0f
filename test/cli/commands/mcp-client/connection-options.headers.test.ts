import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGivenHeaders, withHeaders } from '../../../../src/cli/commands/mcp-client/connection-options.ts';
import { testFolder } from '../../../client/support/folder.ts';

describe('headers of the command line', () => {
  it('have their secrets from the environment or from a file (T-191)', () => {
    const file = join(testFolder(), 'key');
    writeFileSync(file, 'of-the-file\n');
    const given = ['X-Api-Key: env:KEY', `X-Other-Token:@${file}`, 'X-Region: eu: west'];
    const headers = readGivenHeaders(given, { KEY: 'of-the-environment' });
    expect(Object.fromEntries(headers)).toEqual({
      'x-api-key': 'of-the-environment',
      'x-other-token': 'of-the-file',
      'x-region': 'eu: west',
    });
  });

  it.each([
    ['a secret on the command line', 'Authorization: Bearer abc'],
    ['a key on the command line', 'X-Api-Key: abc'],
    ['a variable that is not set', 'X-Api-Key: env:NONE'],
    ['a file that is not there', 'X-Api-Key: @/no/such/file'],
    ['a header of the protocol', 'Mcp-Session-Id: env:KEY'],
    ['no header', 'abc'],
    ['a name that is none', 'a b: c'],
    ['a value that is none', 'X-Region: env:LINES'],
  ])('are refused where they are %s', (_name, given) => {
    expect(() => readGivenHeaders([given], { KEY: 'x', LINES: 'a\nb' })).toThrow(
      expect.objectContaining({ exitCode: 2 }),
    );
  });

  it('go to the server they are for, and to no other (T-186)', async () => {
    const seen: [string, string | null][] = [];
    const fetch = withHeaders(
      async (url, init) => {
        seen.push([String(url), new Headers(init?.headers).get('x-api-key')]);
        return new Response();
      },
      'https://mcp.example.com/mcp',
      new Headers({ 'x-api-key': 'k' }),
    );
    await fetch('https://mcp.example.com/other', { headers: { a: 'b' } });
    await fetch('https://login.example.com/token');
    await fetch('http://mcp.example.com/mcp');
    expect(seen.map(([, value]) => value)).toEqual(['k', null, null]);
  });
});
