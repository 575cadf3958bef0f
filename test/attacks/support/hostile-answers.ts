import type { Random } from '../../flows/attacks/support/random.ts';

/** A call as a hostile server got it. */
export interface HeldCall {
  id: unknown;
  /** What only its caller may ever receive, as in `mk-ada-rest-12-`. */
  marker: string;
  progressToken?: unknown;
}

/** What a hostile server knows while it answers. */
export interface Knowledge {
  /** Calls that run beside, of other callers as well. */
  others: readonly HeldCall[];
  /** Calls that were answered already. */
  done: readonly HeldCall[];
  /** Whether what names no call may be heard by all callers of an account (`account`) or by no other caller (`nobody`). */
  unaddressed: 'account' | 'nobody';
  /** Whether all callers share this line: what is addressed to another call then has the marker of that call. */
  isShared: boolean;
  era: 'legacy' | 'modern';
}

/** The marker of all callers of an account. */
export function accountMarker(marker: string): string {
  return marker.replace(/^mk-([a-z]+)-.*$/, 'ak-$1-');
}

const textOf = (value: unknown): string => JSON.stringify(value);

/** Returns the right answer to a call. */
export function rightAnswer({ id, marker }: HeldCall, era: Knowledge['era']): string {
  return textOf({ jsonrpc: '2.0', id, result: resultWith(marker, era) });
}

function resultWith(marker: string, era: Knowledge['era']): object {
  const result = { content: [{ type: 'text', text: marker }] };
  return era === 'modern' ? { resultType: 'complete', ...result } : result;
}

/**
 * Returns what a hostile server says before its right answer: a few messages, each as text. Whatever of them reaches a
 * caller, it must be the one of the marker.
 */
export function hostileAnswers(call: HeldCall, knowledge: Knowledge, random: Random): string[] {
  return Array.from({ length: random.below(5) }, () => random.one(kinds)(call, knowledge, random));
}

type Kind = (call: HeldCall, knowledge: Knowledge, random: Random) => string;

const answer = (id: string, marker: string, era: Knowledge['era']): string =>
  `{"jsonrpc":"2.0","id":${id},"result":${textOf(resultWith(marker, era))}}`;

/** Another call, with the marker that its id may carry on this line. */
function another(
  { marker }: HeldCall,
  { others, done, isShared }: Knowledge,
  random: Random,
): HeldCall | undefined {
  const list = random.once(2) ? others : done;
  if (list.length === 0) return undefined;
  const chosen = random.one(list);
  return { ...chosen, marker: isShared ? chosen.marker : marker };
}

const heard = (marker: string, { unaddressed }: Knowledge): string =>
  unaddressed === 'account' ? accountMarker(marker) : marker;

const kinds: Kind[] = [
  // The id in another type, or none that was ever given.
  ({ id, marker }, { era }, random) =>
    answer(
      random.one([
        `"${id}"`,
        `[${id}]`,
        `{"id":${id}}`,
        `${id}.5`,
        `-${id}`,
        `${id}0000`,
        `" ${id}"`,
        'null',
        'true',
        '""',
        '"__proto__"',
        '0',
        '1',
        '2',
      ]),
      marker,
      era,
    ),
  ({ id, marker }, { era }, random) => answer(random.one([`${id}.0`, `${id}e0`, String(id)]), marker, era),
  // To another call that runs, or that was answered already.
  (call, knowledge, random) => {
    const other = another(call, knowledge, random) ?? call;
    return answer(textOf(other.id), other.marker, knowledge.era);
  },
  (call, knowledge, random) => {
    const other = another(call, knowledge, random) ?? call;
    return textOf({ jsonrpc: '2.0', id: String(other.id), error: { code: -1, message: call.marker } });
  },
  ({ id, marker }, _, random) =>
    textOf({
      jsonrpc: '2.0',
      id: random.one<unknown>([null, String(id), [id], undefined]),
      error: { code: -32000, message: marker, data: marker },
    }),
  // Several answers at once.
  (call, knowledge, random) => {
    const other = another(call, knowledge, random) ?? call;
    return `[${answer(textOf(call.id), call.marker, knowledge.era)},${answer(textOf(other.id), other.marker, knowledge.era)}]`;
  },
  (call, knowledge, random) => {
    const other = another(call, knowledge, random) ?? call;
    return (
      answer(textOf(other.id), other.marker, knowledge.era) +
      answer(textOf(call.id), call.marker, knowledge.era)
    );
  },
  // Repeated and contradictory members.
  (call, knowledge, random) => {
    const other = another(call, knowledge, random) ?? call;
    return `{"jsonrpc":"2.0","id":${textOf(other.id)},"result":${textOf(resultWith(call.marker, knowledge.era))},"id":${textOf(call.id)}}`;
  },
  ({ id, marker }, { era }) =>
    textOf({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: marker },
      result: resultWith(marker, era),
    }),
  ({ id, marker }, { era }) =>
    textOf({ jsonrpc: '2.0', id, result: resultWith(marker, era), error: { code: 1, message: marker } }),
  // Progress of this call, of others and of none.
  ({ progressToken, marker }, _, random) =>
    textOf({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: {
        progressToken: random.one<unknown>([
          progressToken,
          String(progressToken),
          [progressToken],
          0,
          1,
          null,
          '__proto__',
        ]),
        progress: random.below(9),
        message: marker,
      },
    }),
  (call, knowledge, random) => {
    const other = another(call, knowledge, random) ?? call;
    const params = { progressToken: other.progressToken ?? 1, progress: 1, message: other.marker };
    return textOf({ jsonrpc: '2.0', method: 'notifications/progress', params });
  },
  // What names no call.
  ({ marker }, knowledge, random) => {
    const said = heard(marker, knowledge);
    const method = random.one([
      'notifications/message',
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
      'notifications/tasks/status',
      'notifications/elicitation/complete',
      'notifications/subscriptions/acknowledged',
      'notifications/events/event',
      'notifications/x/y',
    ]);
    const params = {
      level: 'emergency',
      data: said,
      uri: `note://${said}`,
      elicitationId: said,
      taskId: said,
      status: 'working',
      _meta: { said },
    };
    return textOf({ jsonrpc: '2.0', method, params });
  },
  (call, knowledge, random) => {
    const other = another(call, knowledge, random) ?? call;
    const params = { requestId: other.id, reason: heard(call.marker, knowledge) };
    return textOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  },
  // Requests, under ids of calls that run as well.
  (call, knowledge, random) => {
    const said = heard(call.marker, knowledge);
    const other = another(call, knowledge, random) ?? call;
    const method = random.one([
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
      'ping',
      'x/run',
      'tools/call',
    ]);
    const params = {
      message: said,
      requestedSchema: { type: 'object', properties: {} },
      messages: [{ role: 'user', content: { type: 'text', text: said } }],
      maxTokens: 1,
      _meta: { said },
    };
    return textOf({ jsonrpc: '2.0', id: random.one<unknown>([other.id, 'q', 1, said]), method, params });
  },
  // Text that is no message, or half of one.
  ({ id, marker }, { era }, random) => {
    const whole = answer(textOf(id), marker, era);
    return random.one([
      whole.slice(0, random.below(whole.length)),
      whole.slice(random.below(whole.length)),
      `\ufeff${whole}`,
      `${whole}\u0000`,
      marker,
      textOf(marker),
      '[]',
      '{}',
      'null',
      `${'['.repeat(200)}${textOf(marker)}${']'.repeat(200)}`,
    ]);
  },
];
