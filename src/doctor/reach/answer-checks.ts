import { quote } from '../../client/quote.ts';
import { resourceCovers } from '../../oauth/resource-indicator.ts';
import { type Answered, ask, describeAnswer, isGatewayError, mediaType } from '../ask.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import { stringsOf } from '../document.ts';
import { initializeRequest } from '../requests.ts';
import { type ResourceDocument, resourceDocument } from '../resource/places.ts';
import type { Subject } from '../subject.ts';
import {
  anonymousInitialize,
  anonymousStream,
  anonymousTools,
  firstRefusal,
  isServed,
  isSuccess,
  messageOf,
} from './anonymous.ts';

/** Words in the URL of a login page. */
const loginWords = /login|signin|sign-in|sso|auth|saml|oauth|cdn-cgi\/access/i;

async function answered(subject: Subject): Promise<Answered> {
  const answer = await subject.fact(anonymousInitialize);
  if (answer.kind === 'unanswered') throw new Error(describeAnswer(answer));
  return answer;
}

/** Checks that there is a response. */
const answers: Check = {
  id: 'REACH-ANSWER',
  section: 'reach',
  title: 'The server answers a request in time',
  clause: 'operational',
  needs: ['REACH-URL', 'REACH-DNS', 'REACH-TCP', 'REACH-TLS', 'REACH-TLS-VERSION'],
  async judge(subject) {
    const answer = await subject.fact(anonymousInitialize);
    if (answer.kind === 'answered' && isGatewayError(answer))
      return fail(
        `POST ${subject.url}: ${describeAnswer(answer)}. A proxy answers, which does not reach the server.`,
        'Start the server, and correct the address the proxy sends requests to.',
      );
    const isSilent =
      answer.kind === 'answered' &&
      answer.truncated &&
      mediaType(answer) === 'text/event-stream' &&
      messageOf(answer) === undefined;
    if (isSilent)
      return fail(
        `POST ${subject.url}: ${describeAnswer(answer)}, and no event in time.`,
        'See whether the server is busy, or a proxy in front of it holds the events back.',
      );
    if (answer.kind === 'answered') {
      const took = subject.exchanges.find(({ number }) => number === answer.evidence[0])?.durationMs ?? 0;
      return pass(`${describeAnswer(answer)} in ${Math.round(took)} ms`);
    }
    return fail(
      `POST ${subject.url}: ${describeAnswer(answer)}.`,
      answer.reason === 'timed_out'
        ? 'See whether the server is busy, or a proxy in front of it holds the answer back.'
        : 'See whether the server and what stands in front of it are up and speak HTTP on this port.',
    );
  },
};

/** Checks that requests are not redirected. */
const noRedirect: Check = {
  id: 'REACH-REDIRECT',
  section: 'reach',
  title: 'The URL of the MCP endpoint is the final one, without a redirect',
  clause: 'RFC 9110 section 15.4',
  needs: ['REACH-ANSWER'],
  async judge(subject) {
    const { status, headers } = await answered(subject);
    if (status < 300 || status > 399) return pass(`The answer is ${status}.`);
    const location = headers.get('location') ?? '';
    const target = URL.parse(location, subject.url);
    const from = new URL(subject.url);
    const saw = `POST is answered with ${status} to ${quote(location)}.`;
    if (target && loginWords.test(`${target.host}${target.pathname}`))
      return fail(
        `${saw} That looks like a login page: programs cannot use it, they wait for 401.`,
        'Take the MCP endpoint and /.well-known/* out of the login of the proxy or firewall in front of the server.',
      );
    const slashOnly =
      target?.host === from.host && target.pathname.replace(/\/$/, '') === from.pathname.replace(/\/$/, '');
    return fail(
      `${saw} Clients do not follow it, or lose the body or the Authorization header on the way.`,
      target && slashOnly
        ? `Serve ${from.pathname} itself, without the redirect; until then call ${quote(target.href)}.`
        : `Give clients the final URL, or serve this one without a redirect.`,
      { hints: redirectHints(from.pathname) },
    );
  },
};

/** Common paths of MCP endpoints. */
function otherPlaces(url: string): string[] {
  const { href, origin, pathname } = new URL(url);
  const other = pathname.endsWith('/') ? href.replace(/\/+$/, '') : `${href}/`;
  return [...new Set([other, `${href.replace(/\/+$/, '')}/mcp`, `${origin}/mcp`, `${origin}/sse`])].filter(
    (place) => place !== href,
  );
}

/** Fact: URLs near the given one that require a token. */
async function endpointsNearby(subject: Subject): Promise<string[]> {
  const found: string[] = [];
  for (const place of otherPlaces(subject.url)) {
    const answer = await ask(subject, place, initializeRequest());
    if (answer.kind === 'answered' && answer.status === 401) found.push(place);
  }
  return found;
}

/** Advice for a status other than 401. */
async function remedyFor(subject: Subject, { status }: Answered): Promise<string> {
  if (status === 404 || status === 405) {
    const nearby = await subject.fact(endpointsNearby);
    return nearby.length > 0
      ? `Use ${nearby.join(' or ')}, which asks for a token.`
      : 'Give the full URL of the MCP endpoint, its path included.';
  }
  if (status === 403)
    return 'Answer 401 where there is no token. If a firewall or bot rule answers, let programs pass to this path.';
  if (status >= 500)
    return 'See the log of the server, and of what stands in front of it: the request ends in an error.';
  return 'Answer 401 with WWW-Authenticate to every request without a token, before anything else is looked at.';
}

/** Checks that a request without a token starts a login. */
const status: Check = {
  id: 'CHALLENGE-STATUS',
  section: 'reach',
  title: 'A request without a token is answered with 401',
  clause: 'MCP authorization "Error Handling"; RFC 6750 section 3',
  needs: ['REACH-REDIRECT'],
  async judge(subject) {
    const answer = await answered(subject);
    if (answer.status === 401) return pass('POST without a token is answered with 401.');
    const refusal = await subject.fact(firstRefusal);
    if (isSuccess(answer) && mediaType(answer) === 'text/html')
      return fail(
        `POST without a token is answered with ${describeAnswer(answer)}: a page, no MCP endpoint.`,
        await remedyFor(subject, { ...answer, status: 404 }),
      );
    if (isSuccess(answer))
      return refusal
        ? pass(`initialize is open to everybody; ${refusal.answer.method} later is answered with 401.`)
        : unknown(`initialize without a token is answered with ${answer.status}: see CHALLENGE-OPEN.`);
    const stream = await subject.fact(anonymousStream);
    const also = `POST without a token is answered with ${describeAnswer(answer)}, GET with ${describeAnswer(stream)}.`;
    if (refusal)
      return warn(
        `${also} Only GET asks for a token.`,
        'Answer POST in the same way, unless this is an HTTP+SSE server of 2024-11-05.',
      );
    return fail(also, await remedyFor(subject, answer));
  },
};

/** Returns true if metadata belongs to the called server, and names its authorization servers. */
function isOf({ members }: ResourceDocument, url: string): boolean {
  const isNamed = (stringsOf(members.authorization_servers) ?? []).length > 0;
  return isNamed && typeof members.resource === 'string' && resourceCovers(members.resource, url);
}

/** Checks that protected methods need a token. */
const closed: Check = {
  id: 'CHALLENGE-OPEN',
  section: 'reach',
  title: 'Nothing that needs a login is answered without a token',
  clause: 'MCP authorization "Access Token Usage"',
  needs: ['CHALLENGE-STATUS'],
  async judge(subject) {
    const initialize = await answered(subject);
    const { list, call, modernList } = await subject.fact(anonymousTools);
    const asked = {
      initialize,
      'tools/list': list,
      'tools/call': call,
      'tools/list of 2026-07-28': modernList,
    };
    const saw = `Without a token: ${Object.entries(asked)
      .map(([what, answer]) => `${what} ${describeAnswer(answer)}`)
      .join(', ')}.`;
    const evidence = Object.values(asked).flatMap((answer) => answer.evidence);
    const tools = [list, call, modernList];
    const open = tools.filter(isServed);
    if (!isSuccess(initialize) && open.length > 0)
      return fail(
        `${saw} Only the beginning of a session is protected: who leaves it out is served.`,
        'Ask for a token at every request to the endpoint, whatever its method, and not at initialize alone.',
        { evidence: open.flatMap((answer) => answer.evidence) },
      );
    if (!isSuccess(initialize)) return pass(saw, { evidence });
    if (!isServed(list) || !isServed(call))
      return unknown(
        `${saw} Part of it is open; whether the rest is closed cannot be told without a login.`,
        { evidence },
      );
    const document = await subject.fact(resourceDocument);
    if (document !== undefined && isOf(document, subject.url))
      return warn(
        `${saw} The server serves everybody, but ${document.place.url} says that tokens are needed, and from where.`,
        'If a login is meant, answer 401 to every request without a token; if not, take the metadata away.',
        { evidence: [...evidence, ...document.place.answer.evidence] },
      );
    return unknown(
      `${saw} The server serves everybody. If that is meant, it needs no login; if not, it is not protected.`,
      { evidence },
    );
  },
};

/** Checks that caches do not store the 401 response. */
const cache: Check = {
  id: 'CHALLENGE-CACHE',
  section: 'reach',
  title: 'A refusal is not kept by caches',
  clause: 'RFC 9111 section 3',
  needs: ['CHALLENGE-STATUS'],
  async judge(subject) {
    const refusal = await subject.fact(firstRefusal);
    if (!refusal) return skip('There is no refusal.');
    const { headers } = refusal.answer;
    const control = headers.get('cache-control') ?? '';
    const kept = /\b(?:public|s-maxage=[1-9]|max-age=[1-9])/i.test(control) && !/\bno-store\b/i.test(control);
    const hit = [headers.get('cf-cache-status'), headers.get('x-cache'), headers.get('age')].find(
      (value) => value !== null && (/hit/i.test(value) || /^[1-9]\d*$/.test(value)),
    );
    if (!kept && hit === undefined)
      return pass(
        control === ''
          ? 'The 401 has no Cache-Control, and 401 is not kept without.'
          : `Cache-Control: ${quote(control)}`,
      );
    return warn(
      hit === undefined
        ? `The 401 has Cache-Control: ${quote(control)}, so that caches may keep it.`
        : `The 401 came from a cache (${quote(hit)}).`,
      'Send Cache-Control: no-store with 401, and take the MCP endpoint out of the cache of the CDN.',
    );
  },
};

/** Checks of the first response. */
export const answerChecks: readonly Check[] = [answers, noRedirect, status, closed, cache];

/**
 * Configuration lines that redirect the endpoint, and their replacement.
 * @param path path of the MCP endpoint
 */
export function redirectHints(path: string): NonNullable<Judgement['hints']> {
  const plain = path.replace(/\/+$/, '') || '/';
  return [
    {
      product: 'nginx',
      lines: `location ${plain} { proxy_pass http://127.0.0.1:8080; }  # not "location ${plain}/"`,
    },
    { product: 'caddy', lines: `handle ${plain}* { reverse_proxy 127.0.0.1:8080 }  # no redir` },
    { product: 'apache', lines: `ProxyPass ${plain} http://127.0.0.1:8080${plain}  # DirectorySlash Off` },
    {
      product: 'traefik',
      lines: `no redirectRegex or redirectScheme middleware on PathPrefix(\`${plain}\`)`,
    },
  ];
}
