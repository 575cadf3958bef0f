import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { isFreeHeader, ownHeaders } from '../../../../src/gateway/backends/remote/own-headers.ts';
import { testFolderForFile } from '../../../support/folder.ts';

const folder = testFolderForFile();

describe('the headers of a backend', () => {
  it('have values, or find them in the environment or in a file', async () => {
    await writeFile(`${folder}/key`, 'of-a-file\n', { mode: 0o600 });
    const headers = { 'X-Plain': 'a b', 'x-env': { env: 'KEY' }, 'x-file': { file: `${folder}/key` } };
    expect(ownHeaders(headers, { KEY: 'of-env' })).toEqual([
      'x-plain',
      'a b',
      'x-env',
      'of-env',
      'x-file',
      'of-a-file',
    ]);
  });

  it('cannot break the request, nor stand for what it says itself; no value is told', () => {
    for (const name of [
      'Host',
      'content-length',
      'Transfer-Encoding',
      'Mcp-Session-Id',
      'proxy-authorization',
      'a b',
    ])
      expect(isFreeHeader(name)).toBe(false);
    expect(() => ownHeaders({ host: 'x' }, {})).toThrow('The header host cannot be set');
    expect(() => ownHeaders({ a: { env: 'NO' } }, {})).toThrow('The header a: the environment has no NO');
    expect(() => ownHeaders({ a: 'secret\r\nb: c' }, {})).toThrow(
      /^The value of the header a has characters/,
    );
  });
});
