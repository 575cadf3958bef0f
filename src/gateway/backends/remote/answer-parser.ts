import { headerNamePattern, headerValuePattern } from '../../../oauth/headers.ts';

/** The head of an answer that is no interim one. */
export interface AnswerHead {
  status: number;
  /** By names in lower case; values of a name that comes more than once are joined by commas. A byte is a character. */
  headers: ReadonlyMap<string, string>;
}

/** Takes an answer as it comes in. */
export interface AnswerTaker {
  head(head: AnswerHead): void;
  /** Takes part of the body; its bytes are the taker's to keep. */
  body(bytes: Buffer): void;
  /**
   * The answer is whole.
   * @param isReusable whether another request may be sent over the connection
   */
  end(isReusable: boolean): void;
}

/** What came is no answer that may be read. */
export class AnswerError extends Error {
  readonly code: 'ANSWER_MALFORMED' | 'ANSWER_HEAD_TOO_LARGE';

  constructor(code: AnswerError['code']) {
    super('the server sent no answer that can be read');
    this.code = code;
  }
}

/** What is read next. */
type State = 'head' | 'body' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'until close';

/** Longest line before a chunk, in bytes. */
const maxChunkLine = 256;

const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const beginning = 'HTTP/1.';

/** RFC 9112 section 4. */
const statusForm = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** RFC 9112 section 7.1; twelve digits are more than any answer has bytes. */
const chunkForm = /^[0-9a-fA-F]{1,12}(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/;
/** So many digits are always a small integer. */
const maxPlainDigits = 7;
const chunkBeginning = /^[0-9a-fA-F]{1,12}[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r?$/;

/** The end of a line that is none. */
const loneFeed = /(?<!\r)\n/;

/**
 * Reads the answers to the requests of one connection that is used for one request at a time. It is strict: lines end
 * with CRLF, none is folded, an answer says its length once or in chunks and never both, and where bytes follow it that
 * nobody asked for, the connection is not used again. So nothing that one answer holds can be taken for another (T-157).
 * @see RFC 9112 sections 4 to 7
 */
export class AnswerParser {
  readonly #maxHeadBytes: number;
  readonly #taker: AnswerTaker;
  #state: State = 'head';
  /** The beginning of a head or a line whose end has not come yet. */
  #begun: Buffer | undefined;
  /** How much of the body, or of the chunk, is still to come, in bytes. */
  #left = 0;
  /** How much there was beside the body: heads, extensions of chunks and trailers, in bytes. */
  #beside = 0;
  #isKept = false;
  #isStopped = false;

  /** @param maxHeadBytes largest head, and most of all that is sent beside a body */
  constructor(maxHeadBytes: number, taker: AnswerTaker) {
    this.#maxHeadBytes = maxHeadBytes;
    this.#taker = taker;
  }

  /**
   * Takes the next bytes.
   * @throws AnswerError where they are no answer; the parser is not used again
   */
  push(chunk: Buffer): void {
    const bytes = this.#begun ? Buffer.concat([this.#begun, chunk]) : chunk;
    this.#begun = undefined;
    let at = 0;
    while (at < bytes.length && !this.#isStopped) at = this.#read(bytes, at);
  }

  /** The server has ended the connection, which is the end of an answer that does not say how long it is. */
  close(): void {
    if (this.#state === 'until close' && !this.#isStopped) this.#end(false);
  }

  /** Nothing is handed on any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** @returns where what comes next begins */
  #read(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'body':
      case 'chunk':
        return this.#readBody(bytes, at);
      case 'chunk size':
        return this.#readChunkSize(bytes, at);
      case 'chunk end':
        return this.#readChunkEnd(bytes, at);
      case 'trailer':
        return this.#readTrailer(bytes, at);
      case 'until close':
        this.#taker.body(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(headEnd, at);
    const next = end === -1 ? bytes.length : end + headEnd.length;
    if (this.#beside + next - at > this.#maxHeadBytes) throw new AnswerError('ANSWER_HEAD_TOO_LARGE');
    if (end === -1) {
      // What speaks something else may wait for us to say more.
      if (!beginning.startsWith(bytes.toString('latin1', at, at + beginning.length))) throw malformed();
      return this.#keepLine(bytes, at);
    }
    const lines = bytes.toString('latin1', at, end).split('\r\n');
    const [, minor, digits] = statusForm.exec(lines[0] as string) ?? [];
    if (digits === undefined) throw malformed();
    const headers = readFields(lines);
    const status = Number(digits);
    if (status < 200) {
      if (status === 101) throw malformed();
      this.#beside += next - at;
      return next;
    }
    this.#beside = 0;
    this.#frame(status, headers, minor === '1');
    this.#taker.head({ status, headers });
    if (this.#state === 'body' && this.#left === 0) this.#finish(bytes, next);
    return next;
  }

  /** Finds out where the body ends (RFC 9112 section 6.3). */
  #frame(status: number, headers: ReadonlyMap<string, string>, isNewer: boolean): void {
    const coding = headers.get('transfer-encoding');
    const length = headers.get('content-length');
    this.#isKept = isNewer && !namesClose(headers.get('connection'));
    if (coding !== undefined && (length !== undefined || !isNewer || coding.toLowerCase() !== 'chunked'))
      throw malformed();
    // Which is also what two lengths are that were joined.
    if (length !== undefined && !/^\d{1,15}$/.test(length)) throw malformed();
    this.#left = 0;
    if (status === 204 || status === 304) this.#state = 'body';
    else if (coding !== undefined) this.#state = 'chunk size';
    else if (length === undefined) this.#state = 'until close';
    else {
      this.#state = 'body';
      this.#left = Number(length);
    }
  }

  #readBody(bytes: Buffer, at: number): number {
    const next = Math.min(bytes.length, at + this.#left);
    this.#left -= next - at;
    this.#taker.body(at === 0 && next === bytes.length ? bytes : bytes.subarray(at, next));
    if (this.#left > 0) return next;
    if (this.#state === 'chunk') this.#state = 'chunk end';
    else this.#finish(bytes, next);
    return next;
  }

  #readChunkSize(bytes: Buffer, at: number): number {
    const plain = readPlainSize(bytes, at);
    if (plain) return this.#beginChunk(plain.size, plain.end);
    const end = bytes.indexOf(lineEnd, at);
    if ((end === -1 ? bytes.length : end) - at > maxChunkLine) throw malformed();
    if (end === -1) {
      if (!chunkBeginning.test(bytes.toString('latin1', at))) throw malformed();
      return this.#keep(bytes, at);
    }
    const line = bytes.toString('latin1', at, end);
    if (!chunkForm.test(line)) throw malformed();
    if (line.includes(';')) this.#count(line.length);
    return this.#beginChunk(Number.parseInt(line, 16), end);
  }

  #beginChunk(size: number, lineEndsAt: number): number {
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'chunk';
    return lineEndsAt + lineEnd.length;
  }

  #readChunkEnd(bytes: Buffer, at: number): number {
    const next = Math.min(bytes.length, at + lineEnd.length);
    if (!endsLine(bytes, at)) {
      if (next - at === lineEnd.length || bytes[at] !== lineEnd[0]) throw malformed();
      return this.#keep(bytes, at);
    }
    this.#state = 'chunk size';
    return next;
  }

  /** Fields after the body say nothing that anybody asks for. */
  #readTrailer(bytes: Buffer, at: number): number {
    const end = endsLine(bytes, at) ? at : bytes.indexOf(lineEnd, at);
    if (end === -1) {
      if (this.#beside + bytes.length - at > this.#maxHeadBytes) throw malformed();
      return this.#keepLine(bytes, at);
    }
    const next = end + lineEnd.length;
    if (end === at) {
      this.#finish(bytes, next);
      return next;
    }
    this.#count(next - at);
    readFields(['', bytes.toString('latin1', at, end)]);
    return next;
  }

  #count(length: number): void {
    this.#beside += length;
    if (this.#beside > this.#maxHeadBytes) throw malformed();
  }

  /** Where any line ends with LF alone, the end that is waited for might never come. */
  #keepLine(bytes: Buffer, at: number): number {
    if (loneFeed.test(bytes.toString('latin1', at))) throw malformed();
    return this.#keep(bytes, at);
  }

  #keep(bytes: Buffer, at: number): number {
    this.#begun = bytes.subarray(at);
    return bytes.length;
  }

  /** The answer ends before `next`; bytes behind it are none that were asked for. */
  #finish(bytes: Buffer, next: number): void {
    if (this.#isStopped) return;
    const isLast = next === bytes.length;
    if (!isLast) this.#isStopped = true;
    this.#end(this.#isKept && isLast);
  }

  /** Is ready for the next answer before who hears of the end sends a request. */
  #end(isReusable: boolean): void {
    this.#state = 'head';
    this.#beside = 0;
    this.#taker.end(isReusable);
  }
}

function malformed(): AnswerError {
  return new AnswerError('ANSWER_MALFORMED');
}

/** Whether a line ends here. */
function endsLine(bytes: Buffer, at: number): boolean {
  return bytes[at] === lineEnd[0] && bytes[at + 1] === lineEnd[1];
}

/**
 * Reads the size of a chunk from a line that has nothing else, and not many digits, as nearly all are.
 * @returns undefined for any other line, and one whose end has not come
 */
function readPlainSize(bytes: Buffer, at: number): { size: number; end: number } | undefined {
  let [size, end] = [0, at];
  while (end - at < maxPlainDigits) {
    const digit = digitOf(bytes[end]);
    if (digit === undefined) break;
    size = size * 16 + digit;
    end++;
  }
  return end > at && endsLine(bytes, end) ? { size, end } : undefined;
}

/** The value of a hexadecimal digit. */
function digitOf(byte = 0): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}

/** Reads lines of fields, the first of which is another. */
function readFields(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] as string;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = withoutBlanks(line, colon + 1);
    const key = knownNames.get(name) ?? checkName(name);
    if (!headerValuePattern.test(value)) throw malformed();
    const known = fields.get(key);
    fields.set(key, known === undefined ? value : `${known}, ${value}`);
  }
  return fields;
}

/** Names of fields as servers write them, which are few, in lower case. */
const knownNames = new Map<string, string>();
const [maxKnownNames, maxKnownLength] = [200, 40];

/** @returns the name in lower case */
function checkName(name: string): string {
  if (!headerNamePattern.test(name)) throw malformed();
  const lower = ownText(name.toLowerCase());
  if (knownNames.size < maxKnownNames && name.length <= maxKnownLength) knownNames.set(ownText(name), lower);
  return lower;
}

/** A copy of an ASCII text; what it was cut from, here a whole head, would else be kept with it. */
function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Cuts a value out of its line. Not `trim`, which takes more for blank than HTTP does (RFC 9110 section 5.6.3). */
function withoutBlanks(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function namesClose(connection: string | undefined): boolean {
  if (connection === undefined || connection === 'keep-alive') return false;
  return connection
    .toLowerCase()
    .split(',')
    .some((option) => option.trim() === 'close');
}
