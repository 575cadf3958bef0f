import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  failureOfStatus,
  isAnswer,
  isFreeHeader,
  isModernError,
  ownHeaders,
  readAnswer,
} from '../../../../src/gateway/backends/remote/link.ts';
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

describe('reading an answer', () => {
  const read = (text: string) => readAnswer(Buffer.from(text));

  describe('what a server sent', () => {
    it('is a message or a batch of them (B3-13)', () => {
      const one = { jsonrpc: '2.0', id: 1, result: {} };
      expect(read(JSON.stringify(one))).toEqual([one]);
      expect(read(JSON.stringify([one, { jsonrpc: '2.0', method: 'notifications/x' }]))).toHaveLength(2);
    });

    it('may be nothing, with which Rest servers answer when their time is up (B7-09)', () => {
      expect(read('[]')).toEqual([]);
    });

    it('is named where it is none, or more than is taken', () => {
      for (const text of ['', '<p>', '{"jsonrpc":"2.0","id":1', '{"id":1,"result":{}}', '7'])
        expect(read(text)).toBe('backend_answer_unreadable');
      expect(read(`{"jsonrpc":"2.0","id":1,"result":${'['.repeat(200)}${']'.repeat(200)}}`)).toBe(
        'backend_answer_too_large',
      );
    });

    it('shows what it is', () => {
      expect(isAnswer({ jsonrpc: '2.0', id: 1 })).toBe(true);
      expect(isAnswer({ jsonrpc: '2.0', id: 1, method: 'ping' })).toBe(false);
      const error = { jsonrpc: '2.0' as const, id: 1, error: { code: -32022, message: 'x' } };
      expect(isModernError(error)).toBe(true);
      expect(isModernError({ ...error, error: { code: -32600, message: 'x' } } as never)).toBe(false);
    });
  });
});

describe('a status that is a failure', () => {
  it('a status that is not 2xx has a name', () => {
    const names = Object.fromEntries(
      [400, 401, 403, 404, 405, 429, 500, 502, 503].map((one) => [one, failureOfStatus(one)]),
    );
    expect(names).toEqual({
      400: 'backend_refused',
      401: 'backend_wants_login',
      403: 'backend_forbids',
      404: 'backend_refused',
      405: 'backend_refused',
      429: 'backend_overloaded',
      500: 'backend_failed',
      502: 'backend_failed',
      503: 'backend_overloaded',
    });
  });
});
