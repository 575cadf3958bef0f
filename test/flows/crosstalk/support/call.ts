import type { Received } from './http.ts';
import { noteWrong, type Tally } from './tally.ts';

/** What a tool call does. */
export type Kind = 'echo' | 'steps' | 'elicit' | 'sample';

/** Every twentieth call reports its progress, every sixtieth asks for input, every sixtieth has a model asked. */
export function kindOf(turn: number, hasBackChannel: boolean): Kind {
  if (turn % 20 === 3) return 'steps';
  if (hasBackChannel && turn % 60 === 6) return 'elicit';
  if (hasBackChannel && turn % 60 === 16) return 'sample';
  return 'echo';
}

/** A tool call of one principal, from its request to its answer: judges every message that comes for it. */
export class Call {
  readonly kind: Kind;
  readonly id: number;
  readonly #mark: string;
  readonly #nonce: string;
  readonly #tally: Tally;
  #answers = 0;
  #isRight = true;

  /**
   * @param name of the principal
   * @param id of the request, and its progress token
   */
  constructor(name: string, nonce: string, { kind, id, tally }: { kind: Kind; id: number; tally: Tally }) {
    this.kind = kind;
    this.id = id;
    this.#mark = `${name} ${nonce}`;
    this.#nonce = nonce;
    this.#tally = tally;
  }

  /** The params of `tools/call`; `meta` beside the progress token. */
  params(meta: Record<string, unknown> = {}): Record<string, unknown> {
    const { id, kind } = this;
    return { name: kind, arguments: { nonce: this.#nonce }, _meta: { ...meta, progressToken: id } };
  }

  /** The request. */
  request(meta?: Record<string, unknown>): Record<string, unknown> {
    return { jsonrpc: '2.0', id: this.id, method: 'tools/call', params: this.params(meta) };
  }

  /** Whether a message of a POST with several calls is about this one: by its id, its progress token, or its words. */
  isAbout({ id, method, params }: Received): boolean {
    if (method === undefined) return id === this.id;
    if (method === 'notifications/progress') return params?.progressToken === this.id;
    return JSON.stringify(params).includes(`${this.#mark}"`);
  }

  /** Takes a message that came where only messages for this call may come; `reply` answers a question. */
  hear(message: Received, reply?: (answer: Record<string, unknown>) => void): void {
    const { id, method, params } = message;
    if (method === 'notifications/progress') {
      const isMine = params?.progressToken === this.id && params.message === this.#mark;
      if (isMine) this.#tally.progress++;
      else this.#wrong('progress', message);
    } else if (method === 'notifications/message') {
      if (params?.data === this.#mark) this.#tally.logged++;
      else this.#wrong('log message', message);
    } else if (method !== undefined && id !== undefined) {
      reply?.({ jsonrpc: '2.0', id, result: this.answerTo(message) });
    } else this.#hearAnswer(message);
  }

  /** The client's answer to what a tool asks it, which says the call it was asked in. */
  answerTo({ method, params }: Received): Record<string, unknown> {
    if (JSON.stringify(params).includes(this.#mark)) this.#tally.asked++;
    else this.#wrong('question', { params: params ?? {} });
    if (method === 'elicitation/create') return { action: 'accept', content: { said: this.#mark } };
    return { role: 'assistant', model: 'none', content: { type: 'text', text: this.#mark } };
  }

  /** Says that nothing more will come. */
  end(): void {
    if (this.#answers !== 1) this.fail(`${this.#answers} answers`);
    if (this.#isRight) this.#tally.answered++;
  }

  /** Notes something that went wrong on its way. */
  fail(words: string): void {
    this.#isRight = false;
    noteWrong(this.#tally, `${this.kind} ${this.#mark}: ${words}`);
  }

  #hearAnswer(message: Received): void {
    this.#answers++;
    const [content] = (message.result?.content ?? []) as { text?: string }[];
    if (message.id !== this.id || content?.text !== this.#mark) this.#wrong('answer', message);
  }

  #wrong(what: string, message: Received): void {
    this.fail(`not its own ${what}: ${JSON.stringify(message)}`);
  }
}
