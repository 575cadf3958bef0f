import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readPastedAnswer, receivePaste } from '../../../src/client/node/paste.ts';

const redirectUri = 'http://127.0.0.1:4711/callback';
const answer = `${redirectUri}?code=abc-def&state=st`;

function terminal() {
  const input = new PassThrough();
  const said: string[] = [];
  const stop = new AbortController();
  const received = receivePaste(
    { input, isTerminal: false, say: (sentence) => said.push(sentence) },
    { state: 'st', redirectUri },
    stop.signal,
  );
  return { input, said, stop, received };
}

describe('pasting at the terminal', () => {
  it('takes lines that come together as one address (CL-6)', async () => {
    const { input, received } = terminal();
    input.write(`${answer.slice(0, 36)}\n`);
    await sleep(5);
    input.write(`${answer.slice(36)}\n`);
    expect((await received)?.get('state')).toBe('st');
  });

  it('says what is wrong and asks again', async () => {
    const { input, said, received } = terminal();
    input.write('hello\n\n');
    while (said.length === 0) await sleep(10);
    input.write(`${redirectUri}?code=x&state=other\n`);
    while (said.length === 1) await sleep(10);
    input.write(`'${answer}'\n`);
    expect((await received)?.get('code')).toBe('abc-def');
    expect(said).toEqual([
      expect.stringContaining('Paste the whole address'),
      expect.stringContaining('another login'),
    ]);
  });

  it('takes a last line without an end', async () => {
    const { input, received } = terminal();
    input.end(answer);
    expect((await received)?.get('code')).toBe('abc-def');
  });

  it('gives nothing where the input ends', async () => {
    const { input, said, received } = terminal();
    input.end('');
    expect([await received, said]).toEqual([undefined, []]);
  });

  it('ends when somebody else was faster, and reads no further', async () => {
    const { input, stop, received } = terminal();
    stop.abort();
    expect(await received).toBeUndefined();
    input.write('for the next program\n');
    expect(String(input.read())).toBe('for the next program\n');
  });
});

describe('pasted answer', () => {
  const redirectUri = 'http://127.0.0.1:4711/callback';
  const expected = { state: 'st', redirectUri };
  const answer = `${redirectUri}?code=abc-def&state=st&iss=https%3A%2F%2Fas`;

  describe('a pasted answer is read (CL-6)', () => {
    it.each([
      ['the address', answer],
      ['with white space around', `  ${answer}\n\n`],
      ['wrapped by a terminal', `${answer.slice(0, 40)}\n  ${answer.slice(40)}`],
      ['in quotes', `"${answer}"`],
      ['in angle brackets', `<${answer}>`],
      ['its query', answer.slice(answer.indexOf('?'))],
      ['its query without the question mark', answer.slice(answer.indexOf('?') + 1)],
      ['without the scheme, as some browsers show it', answer.slice('http://'.length)],
    ])('%s', (_, text) => {
      const read = readPastedAnswer(text, expected);
      expect('query' in read && Object.fromEntries(read.query)).toEqual({
        code: 'abc-def',
        state: 'st',
        iss: 'https://as',
      });
    });

    it('also where the answer is an error', () => {
      const read = readPastedAnswer(`${redirectUri}?error=access_denied&state=st`, expected);
      expect('query' in read && read.query.get('error')).toBe('access_denied');
    });
  });

  describe('what is no answer to this login is named, and not repeated', () => {
    it.each([
      ['a word', 'secret-word', 'no address'],
      ['a code alone, which could be anybody’s', 'code=secret', '"state=" is missing'],
      ['the address of the login', 'https://as/authorize?response_type=code&state=st', 'the login itself'],
      ['a page on the way', 'https://as/consent?id=secret', 'no answer in it'],
      ['an answer cut off', `${redirectUri}?code=secret`, 'cut off'],
      ['the answer of another login (T-187)', `${redirectUri}?code=secret&state=other`, 'another login'],
      ['two states (T-187)', `${answer}&state=other`, 'another login'],
      ['something endless', `${answer}${'x'.repeat(20_000)}`, 'too long'],
    ])('%s', (_, text, problem) => {
      const read = readPastedAnswer(text, expected);
      expect(read).toEqual({ problem: expect.stringContaining(problem) });
      expect(JSON.stringify(read)).not.toContain('secret');
    });
  });
});
