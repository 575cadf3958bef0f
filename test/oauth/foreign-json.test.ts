import { describe, expect, it } from 'vitest';
import {
  type AnswerKind,
  asObject,
  asText,
  parseObject,
  readForeignAnswer,
  readMembers,
  type Slip,
} from '../../src/oauth/foreign-json.ts';

/** Reads and tells which slips were noted. */
function noting<T>(read: (note: (slip: Slip) => void) => T): [T, string[]] {
  const names: string[] = [];
  const value = read(({ tolerance, because }) => {
    expect(because).toMatch(/\S[^.]$/);
    names.push(tolerance);
  });
  return [value, names];
}

const answer = (
  kind: AnswerKind,
  status: number,
  body: unknown,
  contentType: string | null = 'application/json',
) => noting((note) => readForeignAnswer({ status, contentType, text: JSON.stringify(body) }, kind, note));

describe('JSON of another server', () => {
  it('is an object with texts, or is not used', () => {
    expect([asObject({ a: 1 }), asObject([]), asObject(null), asObject('x')]).toEqual([
      { a: 1 },
      undefined,
      undefined,
      undefined,
    ]);
    expect([parseObject('{"a":1}'), parseObject('[1]'), parseObject('{'), parseObject('')]).toEqual([
      { a: 1 },
      undefined,
      undefined,
      undefined,
    ]);
    expect([asText('a'), asText(''), asText(1), asText(undefined)]).toEqual([
      'a',
      ...Array(3).fill(undefined),
    ]);
  });

  it('may have a byte order mark before it, which is noted (FA-27)', () => {
    expect(noting((note) => parseObject('\uFEFF{"a":1}', note))).toEqual([{ a: 1 }, ['byteOrderMark']]);
    expect(noting((note) => parseObject('\uFEFF<p>', note))).toEqual([undefined, []]);
  });

  it.each([
    [{ id_token: null, refresh_token: '', scope: null, expires_in: '' }, {}, ['emptyAnswerMembers']],
    [{ scope: ['a', 'b', null, ''] }, { scope: 'a b' }, ['scopeList']],
    [{ scope: [] }, {}, ['scopeList']],
    [
      { expires_in: '3600', interval: '5' },
      { expires_in: 3600, interval: 5 },
      ['textForValue', 'textForValue'],
    ],
    [{ expires_in: 'never', interval: 0 }, {}, ['unusableSeconds', 'unusableSeconds']],
    [{ expires_in: -1, client_secret_expires_at: 0 }, { client_secret_expires_at: 0 }, ['unusableSeconds']],
    [
      { code_challenge_methods_supported: 'S256', scopes_supported: 'a b,c' },
      { code_challenge_methods_supported: ['S256'], scopes_supported: ['a', 'b', 'c'] },
      ['textForValue', 'textForValue'],
    ],
    [
      { authorization_servers: 'https://as.example' },
      { authorization_servers: ['https://as.example'] },
      ['textForValue'],
    ],
    [
      { authorization_response_iss_parameter_supported: 'true', dpop_bound_access_tokens_required: 'false' },
      { authorization_response_iss_parameter_supported: true, dpop_bound_access_tokens_required: false },
      ['textForValue', 'textForValue'],
    ],
    [
      { access_token: 'at', expires_in: 0, scope: 'a' },
      { access_token: 'at', expires_in: 0, scope: 'a' },
      [],
    ],
  ])('%j is read as %j (FA-26)', (sent, read, names) => {
    expect(noting((note) => readMembers(sent, note))).toEqual([read, names]);
  });

  it('says whether a token is alive, and null there is no answer (FA-26)', () => {
    expect(readMembers({ active: null, sub: null })).toEqual({ active: null });
  });
});

describe('the answer to a request', () => {
  it.each([
    ['token', 201, { access_token: 'at', token_type: 'Bearer' }, 200, ['answerStatus']],
    ['token', 202, { access_token: 'at', token_type: 'Bearer' }, 200, ['answerStatus']],
    ['token', 200, { access_token: 'at' }, 200, ['missingTokenType']],
    ['token', 200, { access_token: 'at', token_type: null }, 200, ['emptyAnswerMembers', 'missingTokenType']],
    ['token', 200, { error: 'invalid_grant' }, 400, ['errorStatus']],
    ['token', 200, { access_token: '', error: 'x' }, 400, ['emptyAnswerMembers', 'errorStatus']],
    ['token', 400, { error: 'invalid_grant' }, 400, []],
    ['registration', 200, { client_id: 'c' }, 201, ['answerStatus']],
    ['registration', 201, { client_id: 'c', client_secret: 's' }, 201, ['secretWithoutEnd']],
    ['device', 201, { device_code: 'd' }, 200, ['answerStatus']],
  ] as const)(
    '%s with %i %j counts as %i, and %j is noted (FA-25, FA-26)',
    (kind, status, body, counts, names) => {
      const [read, noted] = answer(kind, status, body);
      expect([read?.status, noted]).toEqual([counts, names]);
    },
  );

  it('without what was asked for and without an error is none (FA-27)', () => {
    expect(answer('token', 200, { ok: true })).toEqual([undefined, []]);
    expect(answer('token', 500, {})).toEqual([undefined, []]);
    expect(answer('registration', 200, { access_token: 'at' })).toEqual([undefined, []]);
  });

  it('with a token and a status of failure is a refusal, whatever it holds (FA-25)', () => {
    expect(answer('token', 403, { access_token: 'at', token_type: 'Bearer' })).toEqual([undefined, []]);
  });

  it.each([['text/plain'], ['text/html; charset=utf-8'], [null]])(
    'with the media type %s is read (FA-27)',
    (type) => {
      const [read, names] = answer('token', 200, { access_token: 'at', token_type: 'Bearer' }, type);
      expect([read?.members.access_token, names]).toEqual(['at', ['mediaType']]);
    },
  );
});
