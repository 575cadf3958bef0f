/** What a client was asked. */
export interface Asked {
  method: string;
  params: Record<string, unknown>;
  /** Aborted when the server takes the question back. */
  signal: AbortSignal;
}

type Respond = (asked: Asked) => object | Promise<object>;

/** Who answers for a client: the person in front of it, and its model. */
export class Person {
  readonly asked: Asked[] = [];
  readonly #responses = new Map<string, Respond>();

  /** Says how a method is answered from now on. */
  answers(method: string, respond: Respond): void {
    this.#responses.set(method, respond);
  }

  /** Answers a request of the server. */
  async respond(asked: Asked): Promise<object> {
    this.asked.push(asked);
    const respond = this.#responses.get(asked.method);
    if (!respond) throw new Error(`Nobody answers ${asked.method}.`);
    return respond(asked);
  }

  /** What was asked by a method last, as `params`. */
  last(method: string): Record<string, unknown> | undefined {
    return this.asked.findLast((each) => each.method === method)?.params;
  }
}
