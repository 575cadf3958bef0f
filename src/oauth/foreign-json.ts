import type { ReadingToleranceName } from './reading-tolerances.ts';

/** A JSON object of another server, with unverified members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An accepted deviation of another server. */
export interface Slip {
  tolerance: ReadingToleranceName;
  /** The observation in our own words and names: the end of a sentence, without a secret. */
  because: string;
}

/** Called for each deviation. */
export type NoteSlip = (slip: Slip) => void;

const ignore: NoteSlip = () => undefined;

/** Returns true if a parsed value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns the value if it is a JSON object, else undefined */
export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** @returns the value if it is a non-empty string, else undefined */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Parses a text as a JSON object. A leading byte order mark is skipped.
 * @returns undefined if the text is no JSON object
 * @see RFC 8259 section 8.1
 */
export function parseObject(text: string, note: NoteSlip = ignore): JsonObject | undefined {
  const isMarked = text.startsWith('\uFEFF');
  try {
    const object = asObject(JSON.parse(isMarked ? text.slice(1) : text));
    if (isMarked && object)
      note({ tolerance: 'byteOrderMark', because: 'a byte order mark stands before the JSON' });
    return object;
  } catch {
    return undefined;
  }
}

/** Members for which `null` is not the same as absent: an introspection response has to say if a token is active. */
const neverLeftOut: ReadonlySet<string> = new Set(['active']);

/** Returns whether a member is a list of strings. */
const isList = (name: string): boolean => name === 'authorization_servers' || name.endsWith('_supported');

/** Members in seconds, with their minimum. */
const seconds: Readonly<Record<string, number>> = {
  expires_in: 0,
  interval: Number.MIN_VALUE,
  client_secret_expires_at: 0,
};

/** Returns the number of a member, also if it is a string; undefined if it is below the minimum of the member. */
function readSeconds(name: string, value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= (seconds[name] ?? 0)
    ? number
    : undefined;
}

/** Converts `true` and `false` in strings to Booleans, and other strings to lists of one or more words. */
function readMember(name: string, value: unknown, note: NoteSlip): unknown {
  const asAText = (read: unknown): unknown => {
    note({ tolerance: 'textForValue', because: `"${name}" is a text` });
    return read;
  };
  if (name === 'scope' && Array.isArray(value)) {
    note({ tolerance: 'scopeList', because: '"scope" is a list' });
    return value.filter((one) => typeof one === 'string' && one !== '').join(' ');
  }
  if (Object.hasOwn(seconds, name)) {
    const read = readSeconds(name, value);
    if (read === undefined)
      note({ tolerance: 'unusableSeconds', because: `"${name}" is no number of seconds` });
    else if (typeof value === 'string') return asAText(read);
    return read;
  }
  if (typeof value !== 'string') return value;
  const isFlag = isList(name) || name.endsWith('_required');
  if (isFlag && (value === 'true' || value === 'false')) return asAText(value === 'true');
  if (isList(name)) return asAText(value.split(/[\s,]+/).filter((word) => word !== ''));
  return value;
}

/**
 * Reads the members of a document or response of another server: `null` and the empty string mean absent, and values of
 * a wrong type, string or list, are converted.
 * @returns a new object with the members that have a value
 */
export function readMembers(object: JsonObject, note: NoteSlip = ignore): Record<string, unknown> {
  const members = Object.entries(object);
  const isEmpty = (name: string, value: unknown): boolean =>
    (value === null || value === '') && !neverLeftOut.has(name);
  const empty = members.filter(([name, value]) => isEmpty(name, value)).map(([name]) => name);
  const shown = empty.filter((name) => /^\w{1,60}$/.test(name)).slice(0, 8);
  if (empty.length > 0)
    note({ tolerance: 'emptyAnswerMembers', because: `null or empty: ${shown.join(', ') || 'a member'}` });
  return Object.fromEntries(
    members.flatMap(([name, value]) => {
      const read = isEmpty(name, value) ? undefined : readMember(name, value, note);
      return read === undefined || read === '' ? [] : [[name, read]];
    }),
  );
}

/** @returns the text of a body, including a byte order mark: `Response.text` drops it */
export function decodeBody(bytes: ArrayBuffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** A response of another server as received. */
export interface ForeignAnswer {
  status: number;
  /** `Content-Type`. */
  contentType: string | null;
  text: string;
}

/** The kinds of answers to requests, each by the member that it is about and its status in the standard. */
const kinds = {
  /** RFC 6749 section 5.1. */
  token: { member: 'access_token', status: 200 },
  /** RFC 7591 section 3.2.1. */
  registration: { member: 'client_id', status: 201 },
  /** RFC 8628 section 3.2. */
  device: { member: 'device_code', status: 200 },
} as const;

/** A kind of response. */
export type AnswerKind = keyof typeof kinds;

/** @returns the lower-case media type of a `Content-Type`, without parameters; `''` if there is none */
export function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Reports a media type other than JSON. */
export function noteMediaType(contentType: string | null, note: NoteSlip): void {
  const type = mediaTypeOf(contentType);
  if (type === 'application/json' || type.endsWith('+json')) return;
  const shown = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type)
    ? `the media type is ${type}`
    : 'it has no media type';
  note({ tolerance: 'mediaType', because: `${shown}, not application/json` });
}

/** Returns whether a status means success. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Interprets the response to a token, registration or device authorization request. Any 2xx with the requested member
 * is a success; one with an error instead is an error response.
 * @returns the standard status and the members; undefined if it is neither a success nor an error response
 * @see RFC 6749 sections 5.1 and 5.2; RFC 7591 section 3.2 (FA-25, FA-26)
 */
export function readForeignAnswer(
  { status, contentType, text }: ForeignAnswer,
  kind: AnswerKind,
  note: NoteSlip = ignore,
): { status: number; members: Record<string, unknown> } | undefined {
  const slips: Slip[] = [];
  const object = parseObject(text, (slip) => slips.push(slip));
  if (!object) return undefined;
  const members = readMembers(object, (slip) => slips.push(slip));
  const expected = kinds[kind];
  const slip = (tolerance: ReadingToleranceName, because: string): void =>
    void slips.push({ tolerance, because });
  noteMediaType(contentType, (one) => slips.push(one));
  const hasError = typeof members.error === 'string';
  if (isSuccess(status) && typeof members[expected.member] === 'string') {
    if (status !== expected.status) slip('answerStatus', `the status is ${status}, not ${expected.status}`);
    if (kind === 'token' && members.token_type === undefined) {
      slip('missingTokenType', '"token_type" is missing');
      members.token_type = 'Bearer';
    }
    if (
      kind === 'registration' &&
      'client_secret' in members &&
      members.client_secret_expires_at === undefined
    ) {
      slip('secretWithoutEnd', '"client_secret_expires_at" is missing beside a secret');
      members.client_secret_expires_at = 0;
    }
    for (const one of slips) note(one);
    return { status: expected.status, members };
  }
  if (!hasError) return undefined;
  if (isSuccess(status)) slip('errorStatus', `an error comes with the status ${status}`);
  for (const one of slips) note(one);
  return { status: isSuccess(status) ? 400 : status, members };
}
