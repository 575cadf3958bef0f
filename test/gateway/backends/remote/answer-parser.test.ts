import { describe, expect, it } from 'vitest';
import { AnswerError, AnswerParser } from '../../../../src/gateway/backends/remote/answer-parser.ts';

/** A parser that notes what it hands on: one line for each thing, bodies in one piece. */
function startParser(maxHeadBytes = 500) {
  let [told, body]: [string[], string] = [[], ''];
  const parser = new AnswerParser(maxHeadBytes, {
    head: ({ status, headers }) =>
      told.push(`${status} ${[...headers].map((field) => field.join('=')).join('; ')}`),
    body(part) {
      body += part.toString('latin1');
    },
    end(isReusable) {
      told.push(`${body}|${isReusable ? 'again' : 'over'}`);
      body = '';
    },
  });
  const takeTold = (): string[] => {
    const taken = body === '' ? told : [...told, body];
    [told, body] = [[], ''];
    return taken;
  };
  return { parser, takeTold, note: (line: string) => void told.push(line) };
}

/** What a new parser hands on. */
function read(answers: string, { size = 1 << 20, closes = false, maxHeadBytes = 500 } = {}): string[] {
  const bytes = Buffer.from(answers, 'latin1');
  const { parser, takeTold, note } = startParser(maxHeadBytes);
  try {
    for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
    if (closes) parser.close();
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    note(error.code);
  }
  return takeTold();
}

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

describe('an answer', () => {
  it.each([1, 2, 3, 5, 7, 1000])(
    'is read in pieces of %i bytes, whichever way it says how long it is',
    (size) => {
      const heads = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
      const told = read(`${heads}${ok}Content-Length: 5\r\nX-A:\t b c \t\r\nx-a:d\r\n\r\nh\u00e9llo`, {
        size,
      });
      expect(told).toEqual(['200 content-length=5; x-a=b c, d', 'h\u00e9llo|again']);
      expect(
        read(
          `${ok}Transfer-Encoding: Chunked\r\n\r\n5;x="y"\r\nhello\r\n00B\r\n, you there\r\n0\r\nx: y\r\n\r\n`,
          { size },
        ),
      ).toEqual(['200 transfer-encoding=Chunked', 'hello, you there|again']);
      expect(read('HTTP/1.1 200\r\n\r\nto the end', { size, closes: true })).toEqual([
        '200 ',
        'to the end|over',
      ]);
    },
  );

  it.each([
    [
      'without a body',
      'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n',
      ['204 content-length=5', '|again'],
    ],
    ['of no length', `${ok}content-length: 0\r\n\r\n`, ['200 content-length=0', '|again']],
    ['of no chunks', `${chunked}0\r\n\r\n`, ['200 transfer-encoding=chunked', '|again']],
    [
      'that closes',
      `${ok}connection: Keep-Alive, Close\r\ncontent-length: 1\r\n\r\na`,
      ['200 connection=Keep-Alive, Close; content-length=1', 'a|over'],
    ],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na', ['200 content-length=1', 'a|over']],
  ])('%s has its end, and says whether another may follow', (_what, answer, told) => {
    expect(read(answer)).toEqual(told);
  });

  it('that is not whole when the server closes has no end', () => {
    expect(read(`${ok}content-length: 5\r\n\r\nhel`, { closes: true })).toEqual([
      '200 content-length=5',
      'hel',
    ]);
    expect(read(`${chunked}5\r\nhello\r\n`, { closes: true })).toEqual([
      '200 transfer-encoding=chunked',
      'hello',
    ]);
    expect(read('HTTP/1.1 2', { closes: true })).toEqual([]);
  });

  it.each([
    ['a length', `${ok}content-length: 1\r\n\r\na`],
    ['chunks', `${chunked}1\r\na\r\n0\r\n\r\n`],
    ['no body', 'HTTP/1.1 204 No\r\n\r\n'],
  ])('with %s that is followed by another nobody asked for ends its connection (T-157)', (_what, answer) => {
    const told = read(`${answer}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`);
    expect(told).toHaveLength(2);
    expect(told[1]).toMatch(/^a?\|over$/);
  });

  it.each([
    [
      'a length and chunks',
      `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    ],
    ['two lengths', `${ok}content-length: 1\r\ncontent-length: 1\r\n\r\na`],
    ['a list of lengths', `${ok}content-length: 1, 1\r\n\r\na`],
    ['a negative length', `${ok}content-length: -1\r\n\r\n`],
    ['a signed length', `${ok}content-length: +1\r\n\r\na`],
    ['an empty length', `${ok}content-length:\r\n\r\n`],
    ['a length beyond reason', `${ok}content-length: 9007199254740993\r\n\r\n`],
    ['chunks that are packed', `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['a coding nobody asked for', `${ok}transfer-encoding: identity\r\n\r\n`],
    ['chunks twice', `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a blank before the colon', `${ok}content-length : 1\r\n\r\na`],
    ['a folded line', `${ok}x: a\r\n b\r\ncontent-length: 1\r\n\r\na`],
    ['a line without a colon', `${ok}hello\r\n\r\n`],
    ['a nameless field', `${ok}: a\r\n\r\n`],
    ['a bare line feed', `${ok}x: a\ncontent-length: 1\r\n\r\na`],
    ['lines that end with LF alone', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
    ['its first line alone, ended with LF', 'HTTP/1.1 200 OK\n'],
    ['LF alone behind a line of its fields', `${ok}x: a\ncontent-length: 0\n\n`],
    ['LF alone at its end', `${ok}content-length: 0\r\n\n`],
    ['a bare carriage return', `${ok}x: a\rcontent-length: 1\r\n\r\na`],
    ['a null', `${ok}x: a\0b\r\n\r\n`],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
  ])('is none with %s (T-157)', (_what, answer) => {
    expect(read(answer)).toEqual(['ANSWER_MALFORMED']);
    expect(read(answer, { size: 1 })).toEqual(['ANSWER_MALFORMED']);
  });

  it.each([
    ['no size', '\r\na\r\n'],
    ['a signed size', '+1\r\na\r\n'],
    ['a size as programs write it', '0x1\r\na\r\n'],
    ['a letter that is no digit', 'g\r\na\r\n'],
    ['a digit and a letter that is none', '1g\r\na\r\n'],
    ['a character before the digits in ASCII', '/\r\na\r\n'],
    ['a character before the letters in ASCII', '`\r\na\r\n'],
    ['something else than CR before the LF of its size', '1x\na\r\n'],
    ['something else than CR before the LF of its end', '1\r\nax\n'],
    ['something else than CR before the LF of the last line', '0\r\nx\n'],
    ['a blank before its size', ' 1\r\na\r\n'],
    ['a size beyond reason', '1000000000000\r\na'],
    ['a size that is no end of a line', '1\na\r\n'],
    ['only lines that end with LF', '1\na\n0\n\n'],
    ['trailers that end with LF', '0\r\nx: y\n\n'],
    ['a null in what it adds', '1;a\0\r\na\r\n'],
    ['more than it said', '1\r\nab\r\n0\r\n\r\n'],
    ['an endless line', `1;${'x'.repeat(300)}`],
    ['what it adds again and again', `1;${'x'.repeat(200)}\r\na\r\n`.repeat(4)],
    ['trailers without an end', `0\r\n${'x: y\r\n'.repeat(200)}`],
    ['a trailer that does not end', `0\r\nx: ${'y'.repeat(600)}`],
    ['a trailer that is none', '0\r\nhello\r\n\r\n'],
  ])('breaks off at a chunk with %s (T-157)', (_what, chunk) => {
    expect(read(`${chunked}${chunk}`).at(-1)?.replace(/^a+$/, '')).not.toMatch(/\|/);
    expect(read(`${chunked}${chunk}`)).toContain('ANSWER_MALFORMED');
    expect(read(`${chunked}${chunk}`, { size: 1 })).toContain('ANSWER_MALFORMED');
  });

  it.each([
    ['in the place of a size', 'hello'],
    ['behind a size', '5hello'],
    ['behind a blank and a size', '5 hello'],
    ['behind what it adds', '5;a\0'],
    ['behind a line that ends with CR alone', '5\rhello'],
    ['in the place of the end of a chunk', '1\r\nab'],
  ])(
    'breaks off where a chunk has anything else %s, without waiting for the rest (T-157)',
    (_where, chunk) => {
      expect(read(`${chunked}${chunk}`)).toContain('ANSWER_MALFORMED');
      expect(read(`${chunked}${chunk}`, { size: 1 })).toContain('ANSWER_MALFORMED');
    },
  );

  it('with the very head of the one before is read as if it were the first, and so is one that nearly has it (T-157)', () => {
    const answers = [
      `${ok}content-length: 1\r\nx: a\r\n\r\n1`,
      `${ok}content-length: 1\r\nx: a\r\n\r\n2`,
      `${ok}content-length: 1\r\nx: b\r\n\r\n3`,
      `${ok}content-length: 1\r\nx: b\r\ny: c\r\n\r\n4`,
      `${ok}content-length: 1\r\n\r\n5`,
      'HTTP/1.1 204 OK\r\ncontent-length: 1\r\n\r\n',
      'HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 204 OK\r\ncontent-length: 1\r\n\r\n',
      'HTTP/1.1 204 OK\r\ncontent-length: 1\r\n\r\n',
      `${chunked}1\r\n6\r\n0\r\n\r\n`,
      `${chunked}1\r\n7\r\n0\r\n\r\n`,
      `${ok}content-length: 1\r\nx: a\r\n\r\n8`,
      'HTTP/1.0 200 OK\r\ncontent-length: 1\r\nx: a\r\n\r\n9',
    ];
    const { parser, takeTold } = startParser();
    for (const [at, answer] of answers.entries()) {
      const bytes = Buffer.from(answer, 'latin1');
      const half = at % 2 === 0 ? bytes.length : 20;
      parser.push(bytes.subarray(0, half));
      if (half < bytes.length) parser.push(bytes.subarray(half));
      expect(takeTold()).toEqual(read(answer));
    }
    expect(() => parser.push(Buffer.from(`${ok}content-length: 1\r\nx: a\r\nconnection\r\n\r\n`))).toThrow(
      AnswerError,
    );
  });

  it('has a head that is not too large, interim ones counted', () => {
    const large = `x: ${'y'.repeat(600)}`;
    expect(read(`${ok}${large}\r\n\r\n`)).toEqual(['ANSWER_HEAD_TOO_LARGE']);
    expect(read(`${ok}${large}`, { size: 10 })).toEqual(['ANSWER_HEAD_TOO_LARGE']);
    expect(read('HTTP/1.1 100 Continue\r\n\r\n'.repeat(21))).toEqual(['ANSWER_HEAD_TOO_LARGE']);
  });

  it('hands nothing on once it is stopped, whoever stops it at whatever moment', () => {
    const answer = Buffer.from(`${chunked}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`);
    for (const last of ['head', 'body']) {
      const told: string[] = [];
      const tell = (what: string): void => {
        told.push(what);
        if (what === last) parser.stop();
      };
      const parser = new AnswerParser(500, {
        head: () => tell('head'),
        body: () => tell('body'),
        end: () => tell('end'),
      });
      parser.push(answer);
      parser.close();
      expect(told.at(-1)).toBe(last);
      expect(told).toHaveLength(last === 'head' ? 1 : 2);
    }
  });

  it('is read in time that grows with its length alone', () => {
    const blanks = `x: a${' '.repeat(30_000)}b`;
    const begun = performance.now();
    for (let times = 0; times < 20; times++)
      expect(read(`${ok}${blanks}\r\ncontent-length: 0\r\n\r\n`, { maxHeadBytes: 32_768 })).toHaveLength(2);
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});
