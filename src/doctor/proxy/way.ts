import { protectedResourceMetadataUrls } from '../../oauth/well-known.ts';
import { type Answer, ask, isHtml } from '../ask.ts';
import { type Judgement, type ProxyProduct, unknown } from '../check.ts';
import type { Probe, Subject } from '../subject.ts';
import { type HintPlace, type ProxyFault, proxyHints } from './hints.ts';
import { mcpHeaders, message, spokenRevision } from './mcp-caller.ts';

/** A token that no server has issued. */
const noToken = 'gatehouse-doctor-asks-with-no-token';

const asked = { 'mcp-protocol-version': spokenRevision };

/** Probe: a POST that has no effect, without a token. */
export const anonymousPost: Probe<Answer> = (subject) =>
  ask(subject, subject.url, { method: 'POST', headers: { ...mcpHeaders, ...asked }, body: message('ping') });

/** Probe: the same with a token that no server issued. */
export const strangerPost: Probe<Answer> = (subject) =>
  ask(subject, subject.url, {
    method: 'POST',
    headers: { ...mcpHeaders, ...asked, authorization: `Bearer ${noToken}` },
    body: message('ping'),
  });

/** A GET with a short wait: if the server is open it begins a stream. */
function get(subject: Subject, headers: Record<string, string>): Promise<Answer> {
  return ask(subject, subject.url, {
    headers: { ...asked, accept: 'text/event-stream', ...headers },
    signal: AbortSignal.timeout(3_000),
  });
}

/** Probe: a GET without a token. Caches store answers to GET. */
export const anonymousGet: Probe<Answer> = (subject) => get(subject, {});

/** Probe: a GET with a token nobody issued, behind {@link anonymousGet}. */
export const strangerGet: Probe<Answer> = async (subject) => {
  await subject.fact(anonymousGet);
  return get(subject, { authorization: `Bearer ${noToken}` });
};

/** Probe: the well-known places of protected resource metadata, in their order. */
export const metadataAnswers: Probe<Answer[]> = (subject) =>
  Promise.all(
    protectedResourceMetadataUrls(subject.url).map((url) =>
      ask(subject, url, { headers: { accept: 'application/json' } }),
    ),
  );

/** Probe: a place below `/.well-known/` if nothing is. */
export const missAnswer: Probe<Answer> = (subject) =>
  ask(subject, new URL('/.well-known/oauth-protected-resource/gatehouse-doctor-miss', subject.url).href, {
    headers: { accept: 'application/json' },
  });

/** Probe: the proxies that gave themselves away, each once. */
export const seenProxies: Probe<SeenProxy[]> = async (subject) => {
  const answers = [
    await subject.fact(anonymousPost),
    ...(await subject.fact(metadataAnswers)),
    await subject.fact(missAnswer),
  ];
  const found = answers.flatMap((answer) => (answer.kind === 'answered' ? findProxies(answer) : []));
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at);
};

/**
 * The lines to change, for the products seen.
 * @param subject the server under examination
 * @param fault what is wrong
 * @param place the header that was lost; the path the lines are for, that of the server by default
 */
export async function hintsFor(
  subject: Subject,
  fault: ProxyFault,
  place: Partial<HintPlace> = {},
): Promise<Required<Pick<Judgement, 'hints'>>> {
  const seen = (await subject.fact(seenProxies)).flatMap(({ product }): ProxyProduct[] =>
    product === undefined ? [] : [product],
  );
  const { pathname } = new URL(subject.url);
  return { hints: proxyHints(fault, { path: pathname, ...place }, seen) };
}

/**
 * A JSON object in an answer with status 200.
 * @param answer the answer
 * @returns undefined for anything else
 */
export function documentOf(answer: Answer): Record<string, unknown> | undefined {
  if (answer.kind === 'unanswered' || answer.status !== 200) return undefined;
  try {
    const document: unknown = JSON.parse(answer.text);
    return typeof document === 'object' && document !== null && !Array.isArray(document)
      ? (document as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** @returns whether an answer is a page for people */
export function isPage(answer: Answer): boolean {
  return answer.kind === 'answered' && isHtml(answer);
}

/** @returns a judgement for a check that got no answer to judge */
export function judgeUnanswered(answer: Answer): Judgement {
  const why = answer.kind === 'unanswered' ? answer.why : `status ${answer.status}`;
  return unknown(`${answer.method} ${answer.url} gave nothing to judge: ${why}.`);
}

/** A program between here and the server that gave itself away. */
interface SeenProxy {
  /** As it is known, with its version if it says one. */
  name: string;
  /** The one whose configuration hints can name; absent for others. */
  product?: ProxyProduct;
  /** Evidence for it. */
  mark: string;
}

/** Features of a response that may tell. */
interface Marks {
  status: number;
  headers: Headers;
  text: string;
}

const servers: readonly [RegExp, string, ProxyProduct | undefined][] = [
  [/^cloudflare\b/i, 'Cloudflare', 'cloudflare'],
  [/\b(?:nginx|openresty|tengine)\b/i, 'nginx', 'nginx'],
  [/^caddy\b/i, 'Caddy', 'caddy'],
  [/\bapache\b/i, 'Apache httpd', 'apache'],
  [/^traefik\b/i, 'Traefik', 'traefik'],
  [/^(?:envoy|istio-envoy)\b/i, 'Envoy', undefined],
  [/^awselb\b/i, 'AWS load balancer', undefined],
  [/^(?:google frontend|gws)\b/i, 'Google load balancer', undefined],
];

/** Pages that proxies write themselves; `Server` may be hidden. */
const pages: readonly [RegExp, string, ProxyProduct | undefined][] = [
  [/<center>(?:nginx|openresty)\b/i, 'nginx', 'nginx'],
  [/<address>Apache\b|<!DOCTYPE HTML PUBLIC "-\/\/IETF\/\/DTD HTML 2\.0\/\/EN">/i, 'Apache httpd', 'apache'],
  [/cloudflare ray id|<title>[^<]*\| cloudflare<\/title>/i, 'Cloudflare', 'cloudflare'],
  [
    /<h1>\d{3} [^<]*<\/h1>\s*(?:Your browser sent an invalid request|The server returned an invalid or incomplete response|No server is available to handle this request|The server didn't respond in time)/i,
    'HAProxy',
    'haproxy',
  ],
];

function fromServer({ headers }: Marks): SeenProxy[] {
  const server = headers.get('server') ?? '';
  const known = servers.find(([pattern]) => pattern.test(server));
  if (known === undefined) return [];
  const version = /\/(\d[\d.]*)/.exec(server)?.[1];
  const [, name, product] = known;
  return [
    {
      name: version === undefined ? name : `${name} ${version}`,
      ...(product === undefined ? {} : { product }),
      mark: `Server: ${server.slice(0, 60)}`,
    },
  ];
}

function fromOtherHeaders({ headers }: Marks): SeenProxy[] {
  const found: SeenProxy[] = [];
  const ray = headers.get('cf-ray');
  if (ray !== null) found.push({ name: 'Cloudflare', product: 'cloudflare', mark: 'CF-Ray' });
  for (const via of (headers.get('via') ?? '').split(',').map((entry) => entry.trim())) {
    if (via === '') continue;
    const known = servers.find(([pattern]) => pattern.test(via.replace(/^[\d.]+\s+/, '')));
    const [, name, product] = known ?? [undefined, via.replace(/^[\d.]+\s+/, '').slice(0, 40), undefined];
    found.push({ name, ...(product === undefined ? {} : { product }), mark: `Via: ${via.slice(0, 60)}` });
  }
  if (headers.has('x-envoy-upstream-service-time'))
    found.push({ name: 'Envoy', mark: 'x-envoy-upstream-service-time' });
  return found;
}

function fromPage({ status, headers, text }: Marks): SeenProxy[] {
  const type = headers.get('content-type') ?? '';
  if (status === 404 && type.startsWith('text/plain') && text === '404 page not found\n')
    return [{ name: 'Traefik', product: 'traefik', mark: 'its page for 404' }];
  const page = pages.find(([pattern]) => pattern.test(text));
  if (status < 400 || page === undefined) return [];
  const [, name, product] = page;
  return [{ name, ...(product === undefined ? {} : { product }), mark: `its page for ${status}` }];
}

/**
 * Names the proxies that a response passed, as far as they identify themselves.
 * @param marks a response
 * @see RFC 9110 sections 7.6.3 (Via) and 10.2.4 (Server)
 */
export function findProxies(marks: Marks): SeenProxy[] {
  return [...fromServer(marks), ...fromOtherHeaders(marks), ...fromPage(marks)];
}
