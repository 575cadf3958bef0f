import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { createUpstreams, type UpstreamsOptions } from '../../src/upstream/create-upstreams.ts';
import type {
  AuthorizationWishes,
  CompletedAuthorization,
  Upstream,
  UpstreamSettings,
} from '../../src/upstream/upstream.ts';
import {
  UpstreamFault,
  type UpstreamFaultKind,
  type UpstreamReason,
} from '../../src/upstream/upstream-fault.ts';
import { createWalker, type Walker } from '../support/upstreams/browse.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../support/upstreams/open-id.ts';
import { lin, type UpstreamPerson, upstreamClient } from '../support/upstreams/people.ts';

/** Where the callbacks of these tests are; nobody listens there. */
export const publicUrl = 'http://localhost:9';

/** The client of an upstream with these settings, by the name `work`. */
export async function upstreamFor(given: object, options: Partial<UpstreamsOptions> = {}): Promise<Upstream> {
  const { upstreams: settings } = parseSettings({
    upstreams: { work: given },
    dangerously: { upstreamsOverHttp: true },
  } as object);
  const { upstreams, problems } = await createUpstreams(settings as Record<string, UpstreamSettings>, {
    publicUrl,
    dangerouslyFromLoopback: true,
    environment: {},
    now: () => Math.floor(Date.now() / 1000),
    ...options,
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return upstreams.find('work') as Upstream;
}

/** A login, whole: what was asked, and what came of it. */
export async function logIn(
  upstream: Upstream,
  {
    person = lin,
    walker = createWalker(),
    wishes,
    callback = (url) => url.searchParams,
  }: {
    person?: UpstreamPerson;
    walker?: Walker;
    wishes?: AuthorizationWishes;
    /** What becomes of the callback on its way. */
    callback?: (url: URL) => URLSearchParams;
  } = {},
): Promise<CompletedAuthorization> {
  const { url, pending } = await upstream.begin(wishes);
  const back = await walker.walk(url, person);
  return upstream.complete(callback(back), pending);
}

/** The fault something ends with. */
export async function faultOf(doing: Promise<unknown>): Promise<UpstreamFault> {
  const outcome = await doing.then(
    (value) => new Error(`went well: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof UpstreamFault) return outcome;
  throw outcome;
}

/** Everything a log would hold of an error: message, stack, and the same of all causes. */
export function textOf(error: unknown): string {
  const { cause, ...own } = Object(error) as Error;
  const more = cause === undefined ? '' : textOf(cause);
  return `${String(error)} ${(error as Error).stack} ${JSON.stringify(own)} ${more}`;
}

/** Path of the metadata of a stand-in with OpenID Connect. */
export const metadataPath = '/.well-known/openid-configuration';

/** Epoch seconds. */
export const secondsNow = (): number => Math.floor(Date.now() / 1000);

/** An OpenID provider for the tests of a file; it behaves again after each. */
export function useWork(): {
  /** The stand-in, from the first test on. */
  readonly work: OpenIdUpstream;
  /** A client of it that knows nothing yet. */
  client(options?: Partial<UpstreamsOptions>): Promise<Upstream>;
  /** A client that soon gives up on an upstream, if it has to find it silent. */
  clientToSee(reason: UpstreamReason): Promise<Upstream>;
  /** Expects a fault, with nothing of what the stand-in sent or what is secret in it (T-093). */
  expectRefused(doing: Promise<unknown>, reason: UpstreamReason, kind?: UpstreamFaultKind): Promise<void>;
} {
  let work: OpenIdUpstream | undefined;
  beforeAll(async () => {
    work = await startOpenIdUpstream();
    work.allow(`${publicUrl}/upstream/work/callback`, `${publicUrl}/logged-out`);
  });
  afterEach(() => work?.behave());
  afterAll(() => work?.stop());
  return {
    get work() {
      return work as OpenIdUpstream;
    },
    client: (options) => upstreamFor((work as OpenIdUpstream).settings(), options),
    clientToSee: (reason) =>
      upstreamFor((work as OpenIdUpstream).settings(), reason === 'timed_out' ? { timeoutMs: 2_000 } : {}),
    async expectRefused(doing, reason, kind = 'refused') {
      const fault = await faultOf(doing);
      expect([fault.reason, fault.kind]).toEqual([reason, kind]);
      const text = textOf(fault);
      const canaries = [...(work?.issued ?? []), upstreamClient.clientSecret, 'canary', '<script', 'Oops'];
      expect(canaries.filter((canary) => text.includes(canary))).toEqual([]);
    },
  };
}
