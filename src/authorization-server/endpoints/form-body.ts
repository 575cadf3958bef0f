import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import getRawBody from 'raw-body';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { answerWithOAuthError, noteReason, type Step } from './endpoint-guards.ts';

/** The engine's own limit for form bodies. */
const maxFormBytes = 56 * 1024;

/** Maximum number of parameters. The engine's parser reads only the first thousand (T-054). */
const maxFormParameters = 100;

const mediaType = 'application/x-www-form-urlencoded';
const usualMediaType = /^application\/x-www-form-urlencoded(?:; ?charset=utf-8)?$/i;

/**
 * Returns true if the headers describe a form as nearly every client sends it, without parsing them in full. A request
 * without a length has no body or a chunked body, and does not count.
 */
function isUsualForm({ req: { headers } }: Context): boolean {
  return headers['content-length'] !== undefined && usualMediaType.test(headers['content-type'] ?? '');
}

/**
 * Returns true if the request has a form.
 * @throws BodyRefused if its body has no media type: most bodies without one are forms
 */
function hasForm(ctx: Context): boolean {
  if (isUsualForm(ctx)) return true;
  // Null where there is no body.
  const type = ctx.is(mediaType);
  if (type === false && ctx.get('Content-Type') === '' && ctx.request.length !== 0)
    throw new BodyRefused(400, `The body has no Content-Type: send the parameters as ${mediaType}.`);
  return Boolean(type);
}

async function takeForm(ctx: Context): Promise<URLSearchParams> {
  if (!hasForm(ctx)) return new URLSearchParams();
  const body = await readBody(ctx, maxFormBytes);
  // Its first question mark is cut off, as that of a URL; one of the form itself stays, as it does in the engine.
  const form = new URLSearchParams(`?${body.toString('utf8')}`);
  if (form.size > maxFormParameters)
    throw new BodyRefused(400, `The form may have at most ${maxFormParameters} parameters.`);
  replayBody(ctx, body);
  return form;
}

/**
 * Reads the form of a request and keeps the body for the engine to read again. All steps of one request get the same
 * form, or the same rejection.
 * @returns the parameters, none if the body is no form (the engine rejects it); or the reason of the rejection: no
 *   media type, compressed, too large, cut off, or too many parameters (RFC 6749 section 3.2)
 */
export async function findForm(ctx: Context): Promise<URLSearchParams | BodyRefused> {
  const known: URLSearchParams | BodyRefused | undefined = ctx.state.form;
  if (known) return known;
  const found = await takeForm(ctx).catch((error: unknown) => {
    if (error instanceof BodyRefused) return error;
    throw error;
  });
  ctx.state.form = found;
  return found;
}

/** @returns whether a client posted a form that ended too early */
export async function isFormUnfinished(ctx: Context): Promise<boolean> {
  if (ctx.method !== 'POST') return false;
  const form = await findForm(ctx);
  return form instanceof BodyRefused && form.isUnfinished;
}

/**
 * Reads the form of a request, and responds with an error if it is rejected.
 * @returns the parameters, or undefined if the request got its error response
 */
export async function readFormBody(ctx: Context): Promise<URLSearchParams | undefined> {
  const form = await findForm(ctx);
  if (!(form instanceof BodyRefused)) return form;
  // As the engine does, to which this never comes: a page may read what was wrong.
  ctx.set('Access-Control-Allow-Origin', '*');
  if (form.status === 415) ctx.set('Accept-Encoding', 'identity');
  noteReason(ctx, form.message);
  answerWithOAuthError(ctx, form.status, 'invalid_request', form.message);
  return undefined;
}

/**
 * Creates a step of the token endpoint for requests of one grant type; it passes on all others.
 * @param grantType `grant_type` of the request
 */
export function onlyFor(grantType: string, step: Step): Step {
  return async (ctx, next) => {
    const form = await readFormBody(ctx);
    if (form) await (form.get('grant_type') === grantType ? step(ctx, next) : next());
  };
}

/** Lets the engine read this form in place of the posted one. @param form what it is to read */
export function replayForm(ctx: Context, form: URLSearchParams): void {
  replayBody(ctx, Buffer.from(form.toString()));
}

/**
 * Replaces the body that the engine will read. The engine reads the stream itself.
 * @param body the body that was read from the stream, perhaps rewritten; the last call counts
 */
export function replayBody(ctx: Context, body: Buffer): void {
  ctx.state.bodyToReplay = body;
}

/** Sets the body that the engine reads; if no step has read the body, the stream still has it. */
export function restoreBody(ctx: Context): void {
  const body: Buffer | undefined = ctx.state.bodyToReplay;
  if (!body) return;
  // What the engine looks at: no stream, whose every step would cost the request a turn.
  const stream: Record<string | symbol, unknown> = {
    readable: true,
    readableEncoding: null,
    async *iterator() {
      yield body;
    },
  };
  ctx.req.headers['content-length'] = String(body.length);
  delete ctx.req.headers['transfer-encoding'];
  const replayed = new Proxy(ctx.req, {
    get(request, property) {
      const source = Object.hasOwn(stream, property) ? stream : request;
      const value: unknown = Reflect.get(source, property);
      return typeof value === 'function' ? value.bind(source) : value;
    },
  }) as IncomingMessage;
  ctx.req = replayed;
  ctx.request.req = replayed;
}

/** The user of HTTP Basic credentials without a password, decoded; undefined for any others (RFC 6749 section 2.3.1). */
function userWithoutPassword(header: string): string | undefined {
  const [, encoded] = /^Basic +([\w+/=-]+)$/i.exec(header) ?? [];
  const [, user] = /^([^:]+):?$/.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  return user === undefined ? undefined : (new URLSearchParams(`user=${user}`).get('user') ?? undefined);
}

/**
 * Reads HTTP Basic with an empty password as the client id of a public client: it proves nothing, and libraries send it for
 * clients without a secret (FA-28). A client that has a secret is refused without it as before.
 */
export const takeEmptyPassword: Step = async (ctx, next) => {
  const user = userWithoutPassword(ctx.get('Authorization'));
  if (user === undefined) return next();
  const form = await readFormBody(ctx);
  if (!form) return;
  const clientId = form.get('client_id');
  if (!isUsualForm(ctx) || form.size === 0 || (clientId !== null && clientId !== user)) return next();
  delete ctx.req.headers.authorization;
  if (clientId === null) {
    form.set('client_id', user);
    replayForm(ctx, form);
  }
  await next();
};

/** A body that cannot be read: compressed, too large, or cut off. */
export class BodyRefused extends Error {
  override name = 'BodyRefused';
  readonly status: 400 | 413 | 415;
  /** True if the body ended too early. Nobody sees the response then, and no limit counts the request (T-207). */
  readonly isUnfinished: boolean;
  constructor(status: BodyRefused['status'], message: string, isUnfinished = false) {
    super(message);
    this.status = status;
    this.isUnfinished = isUnfinished;
  }
}

/** Bodies of an address that may be unfinished at once, and the age in milliseconds from which a further one ends the oldest. */
const openBounds = { bodies: 100, ageMs: 2_000 } as const;

/** Unfinished bodies by address, the oldest first, with the time at which reading began. */
const openBodies = new InFlightMap<string, Map<IncomingMessage, number>>();

/** Reads a body as one of the open bodies of its address. */
async function readAsOpen<Body>(ctx: Context, read: () => Promise<Body>): Promise<Body> {
  const address = String(ctx.state.clientAddress);
  const open = openBodies.get(address) ?? new Map<IncomingMessage, number>();
  const [oldest] = open;
  if (oldest && open.size >= openBounds.bodies && performance.now() - oldest[1] > openBounds.ageMs)
    oldest[0].destroy();
  open.set(ctx.req, performance.now());
  openBodies.set(address, open);
  try {
    return await read();
  } finally {
    open.delete(ctx.req);
    if (open.size === 0) openBodies.delete(address);
  }
}

/**
 * Reads a request body up to a limit; stops reading at the limit (T-134). An address with many slow bodies loses the oldest
 * of them for each further one (T-207).
 * `raw-body` because it is what the Node frameworks themselves use for this.
 * @param limit bytes
 * @throws BodyRefused
 */
export async function readBody(ctx: Context, limit: number): Promise<Buffer> {
  const coding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (coding !== '' && coding !== 'identity')
    throw new BodyRefused(415, 'Send the body without a Content-Encoding.');
  try {
    const length = ctx.req.headers['content-length'] ?? null;
    return await readAsOpen(ctx, () => getRawBody(ctx.req, { length, limit }));
  } catch (error) {
    if ((error as { type?: string }).type === 'entity.too.large')
      throw new BodyRefused(413, `The request body may have at most ${limit} bytes.`);
    throw new BodyRefused(400, 'The request body could not be read.', true);
  }
}
