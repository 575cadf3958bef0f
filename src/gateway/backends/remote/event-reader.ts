import { Pieces } from './pieces.ts';

/** An event of an event stream. */
export interface StreamEvent {
  /** `message` where the server names no type. */
  type: string;
  /** Its data lines, joined by line feeds; never without one. */
  data: Buffer;
}

/** What a reader of events hands on. */
export interface EventTaker {
  event(event: StreamEvent): void;
  /** The server says how long to wait before its stream is opened again, in milliseconds. */
  retry(waitMs: number): void;
  /** An event was longer than allowed. Called once; nothing is handed on afterwards. */
  tooLong(): void;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;

/** Longest `id` and type of an event that is kept, in bytes: the id is sent back as a header. */
const maxNameBytes = 1024;

/** RFC 9110 section 5.5. */
const sendable = /^[\t\x20-\x7e\x80-\xff]+$/;

const nothing = Buffer.alloc(0);
const feed = Buffer.of(lineFeed);

/**
 * Reads an event stream byte by byte, as characters may be split anywhere between two chunks. An event that is not
 * complete at the end is none; a byte order mark at the beginning is skipped.
 * @see WHATWG HTML section 9.2.6 "Interpreting an event stream"
 */
export class EventReader {
  /**
   * Id of the last event that came whole and had one, as the value of a header, a byte a character: who resumes behind it
   * misses nothing.
   */
  lastEventId: string | undefined;
  readonly #maxBytes: number;
  readonly #taker: EventTaker;
  /** Parts of a line whose end has not come yet. */
  #begun = new Pieces();
  /** Its data lines so far. */
  #data = new Pieces();
  #hasData = false;
  #type = '';
  #id: string | undefined;
  /** Length of the event so far, in bytes. */
  #length = 0;
  #afterReturn = false;
  #isFirstLine = true;
  #isOver = false;

  /** @param maxBytes longest event */
  constructor(maxBytes: number, taker: EventTaker) {
    this.#maxBytes = maxBytes;
    this.#taker = taker;
  }

  /** Length of the event whose end has not come, in bytes. */
  get heldBytes(): number {
    return this.#length;
  }

  /** Takes the next chunk, and hands on the events that end in it. The chunk's bytes are the reader's to keep. */
  push(chunk: Buffer): void {
    let from = this.#afterReturn && chunk[0] === lineFeed ? 1 : 0;
    if (chunk.length > 0) this.#afterReturn = false;
    let nextReturn = chunk.indexOf(carriageReturn, from);
    while (from < chunk.length && !this.#isOver) {
      const nextFeed = chunk.indexOf(lineFeed, from);
      const isReturn = nextReturn !== -1 && (nextFeed === -1 || nextReturn < nextFeed);
      const end = isReturn ? nextReturn : nextFeed;
      if (end === -1) {
        const rest = chunk.subarray(from);
        this.#begun.add(rest);
        this.#count(rest.length);
        return;
      }
      const part = chunk.subarray(from, end);
      this.#count(part.length + 1);
      if (this.#isOver) return;
      this.#line(this.#withBegun(part));
      from = end + 1;
      if (!isReturn) continue;
      if (from === chunk.length) this.#afterReturn = true;
      else if (chunk[from] === lineFeed) from++;
      nextReturn = chunk.indexOf(carriageReturn, from);
    }
  }

  #withBegun(part: Buffer): Buffer {
    if (this.#begun.isEmpty) return part;
    this.#begun.add(part);
    return this.#begun.take();
  }

  #count(bytes: number): void {
    this.#length += bytes;
    if (this.#length <= this.#maxBytes) return;
    this.#isOver = true;
    this.#begun = new Pieces();
    this.#data = new Pieces();
    this.#taker.tooLong();
  }

  #line(bytes: Buffer): void {
    const line = this.#isFirstLine && isMarked(bytes) ? bytes.subarray(3) : bytes;
    this.#isFirstLine = false;
    if (line.length === 0) {
      this.#dispatch();
      return;
    }
    const at = line.indexOf(colon);
    if (at === 0) {
      // A comment belongs to no event: streams are kept open with them for days.
      if (!this.#hasData) this.#length = 0;
      return;
    }
    const name = line.toString('latin1', 0, at === -1 ? line.length : at);
    const value = at === -1 ? nothing : line.subarray(line[at + 1] === space ? at + 2 : at + 1);
    this.#field(name, value);
  }

  #field(name: string, value: Buffer): void {
    if (name === 'data') this.#addData(value);
    else if (name === 'event') this.#type = value.toString('utf8', 0, maxNameBytes);
    else if (name === 'id') this.#keepId(value);
    else if (name === 'retry') {
      const text = value.toString('latin1', 0, maxNameBytes);
      if (/^\d{1,9}$/.test(text)) this.#taker.retry(Number(text));
    }
  }

  #addData(value: Buffer): void {
    if (this.#hasData) this.#data.add(feed);
    this.#hasData = true;
    this.#data.add(value);
  }

  #keepId(value: Buffer): void {
    // Its bytes as they are, which is how they are sent back; those no header may have are of no use.
    const id = value.toString('latin1');
    if (value.length <= maxNameBytes) this.#id = sendable.test(id) ? id : undefined;
  }

  #dispatch(): void {
    const hasData = this.#hasData;
    const data = this.#data.take();
    const type = this.#type === '' ? 'message' : this.#type;
    this.#hasData = false;
    this.#type = '';
    this.#length = 0;
    this.lastEventId = this.#id;
    if (hasData) this.#taker.event({ type, data });
  }
}

function isMarked(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
