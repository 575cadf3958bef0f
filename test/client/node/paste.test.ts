import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { receivePaste } from '../../../src/client/node/paste.ts';

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
