import { quote } from '../../client/quote.ts';
import { isLocalAddress } from '../../client/url-policy.ts';
import { authorizationServerMetadataUrls, pathOf, wellKnown } from '../../oauth/well-known.ts';
import { type Answer, ask, isGatewayError } from '../ask.ts';
import { type Check, fail, type Judgement, pass, unknown } from '../check.ts';
import type { Subject } from '../subject.ts';
import { mcpHeaders, message } from './mcp-caller.ts';
import {
  anonymousPost,
  documentOf,
  hintsFor,
  isPage,
  judgeUnanswered,
  metadataAnswers,
  missAnswer,
  seenProxies,
} from './way.ts';

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** The programs on the way that say who they are. */
export const productCheck: Check = {
  id: 'PROXY-PRODUCT',
  section: 'proxy',
  title: 'What stands before the server',
  clause: 'RFC 9110 section 7.6.3',
  async judge(subject) {
    const seen = await subject.fact(seenProxies);
    if (seen.length === 0) return pass('Nothing between here and the server gave itself away.');
    return pass(`${seen.map(({ name, mark }) => `${name} (${mark})`).join(', ')}.`);
  },
};

/** Neither the URL nor the same with or without a slash at its end is redirected. */
export const redirectCheck: Check = {
  id: 'PROXY-REDIRECT',
  section: 'proxy',
  title: 'No spelling of the URL is redirected: redirects lose the method, the body or the token',
  clause: 'RFC 9110 section 15.4',
  async judge(subject) {
    const straight = await subject.fact(anonymousPost);
    if (straight.kind === 'unanswered') return judgeUnanswered(straight);
    const twisted = new URL(subject.url);
    twisted.pathname = twisted.pathname.endsWith('/')
      ? twisted.pathname.replace(/\/+$/, '')
      : `${twisted.pathname}/`;
    const other = await ask(subject, twisted.href, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{}',
    });
    const found = [straight, other].find((answer) => answer.kind === 'answered' && isRedirect(answer.status));
    if (found?.kind !== 'answered') return pass(`Neither ${subject.url} nor ${twisted.href} is redirected.`);
    const isOwn = found === straight;
    return {
      verdict: isOwn ? 'fail' : 'warn',
      saw: `${found.url} is redirected to ${quote(found.headers.get('location') ?? '')} (${found.status}).`,
      fix: isOwn
        ? 'Serve the server at this URL, or give clients the URL it leads to.'
        : 'Serve both spellings: a client that is given this one loses its token on the way.',
      ...(await hintsFor(subject, 'redirect')),
    };
  },
};

/** The well-known places at the root of the origin lead to the server, not to the site around it. */
export const wellKnownCheck: Check = {
  id: 'PROXY-WELL-KNOWN',
  section: 'proxy',
  title: 'The well-known places at the root of the origin lead to the server',
  clause: 'RFC 9728 section 3.1',
  async judge(subject) {
    const answers = await subject.fact(metadataAnswers);
    const [first] = answers;
    if (first === undefined || first.kind === 'unanswered')
      return unknown('The well-known place gave no answer.');
    if (documentOf(first) !== undefined) return pass(`${first.url} holds the metadata.`);
    const { origin } = new URL(subject.url);
    const segments = pathOf(subject.url).split('/').filter(Boolean);
    const below = segments.map((_, at) => `/${segments.slice(0, at + 1).join('/')}`);
    for (const prefix of below) {
      const rest = pathOf(subject.url).slice(prefix.length);
      const answer = await ask(subject, `${origin}${prefix}/.well-known/oauth-protected-resource${rest}`, {
        headers: { accept: 'application/json' },
      });
      if (documentOf(answer)?.resource === undefined) continue;
      return fail(
        `The metadata stands at ${answer.url}, where no client looks; ${first.url} was answered with status ${first.status}.`,
        `Route ${new URL(first.url).pathname} of this host to the server.`,
        await hintsFor(subject, 'well_known'),
      );
    }
    if (isPage(first))
      return fail(
        `${first.url} was answered with a page (status ${first.status}): the site answers, not the server.`,
        `Route ${new URL(first.url).pathname} of this host to the server.`,
        await hintsFor(subject, 'well_known'),
      );
    if (documentOf(answers[1] ?? first) !== undefined) return pass(`${answers[1]?.url} holds the metadata.`);
    return unknown(
      `${first.url} was answered with status ${first.status}; whether by the server or before it cannot be seen.`,
    );
  },
};

/** Errors come from the server, as data, and not as pages of the proxy. */
export const errorPageCheck: Check = {
  id: 'PROXY-ERROR-PAGE',
  section: 'proxy',
  title: 'Errors come from the server and not as pages',
  clause: 'RFC 9110 section 15',
  // The page that comes with a redirect is no error of anybody.
  needs: ['PROXY-REDIRECT'],
  async judge(subject) {
    const post = await subject.fact(anonymousPost);
    const miss = await subject.fact(missAnswer);
    if (post.kind === 'unanswered') return judgeUnanswered(post);
    const broken = isGatewayError(post) || post.status === 503;
    if (isPage(post) || broken)
      return fail(
        `${subject.url} was answered with ${isPage(post) ? 'a page' : 'an error of a proxy'} (status ${post.status})${broken ? ': the proxy does not reach the server' : ''}.`,
        broken
          ? 'Start the server, and correct the address the proxy sends requests to.'
          : 'Let the answers of the server through, whatever their status, and ask no visitor to prove to be human here.',
        await hintsFor(subject, 'error_page'),
      );
    if (miss.kind === 'answered' && miss.status < 300 && isPage(miss))
      return fail(
        `${miss.url} does not exist, but a page came back (status ${miss.status}). Clients read it as metadata and fail.`,
        'Answer with 404 below /.well-known/ where nothing is: route it to the server, before the fallback of the site.',
        await hintsFor(subject, 'well_known'),
      );
    return pass(`An error arrived as the server sent it (status ${post.status}).`);
  },
};

/** A URL a server published, and where. */
interface Published {
  where: string;
  url: URL;
  /** True if it must stand on the origin that clients call. */
  own: boolean;
}

const urlsIn = (where: string, document: Record<string, unknown> | undefined): Published[] =>
  Object.entries(document ?? {}).flatMap(([member, value]) =>
    [value].flat().flatMap((text) => {
      const url = typeof text === 'string' && /^https?:\/\//.test(text) ? URL.parse(text) : null;
      const own = member === 'resource' || member === 'issuer';
      return url === null ? [] : [{ where: `${member} of ${where}`, url, own }];
    }),
  );

const headerUrls = (answer: Answer): Published[] => {
  if (answer.kind === 'unanswered') return [];
  const named = /resource_metadata="([^"]+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];
  return [
    ['the challenge', named],
    ['Location', answer.headers.get('location') ?? undefined],
  ].flatMap(([where, text]) => {
    const url = text === undefined ? null : URL.parse(text, answer.url);
    return url === null || where === undefined ? [] : [{ where, url, own: true }];
  });
};

/** A name that means something inside only: an address of a local network, a name without a dot. */
function isInside(hostname: string): boolean {
  const isName = !hostname.startsWith('[') && !/^[\d.]+$/.test(hostname);
  return (
    isLocalAddress(hostname) ||
    (isName && (!hostname.includes('.') || /\.(internal|local|svc|lan)$/.test(hostname)))
  );
}

/** Returns the reason why a published URL shows that the server does not know its public URL; undefined if none. */
function leakOf({ url, own }: Published, outside: URL): string | undefined {
  if (url.origin === outside.origin) return undefined;
  if (url.hostname === outside.hostname && url.protocol !== outside.protocol)
    return `it says ${url.protocol}// where clients use ${outside.protocol}//`;
  if (url.hostname === outside.hostname && own)
    return `it names ${url.port === '' ? 'no port' : `port ${url.port}`} where clients use ${outside.port || 'none'}`;
  const bothHere = isLocalAddress(url.hostname) && isLocalAddress(outside.hostname);
  if (isInside(url.hostname) && (own || !bothHere))
    return `${url.host} is not the name clients use, ${outside.host}`;
  return undefined;
}

async function publishedUrls(subject: Subject): Promise<Published[]> {
  const answers = await subject.fact(metadataAnswers);
  const documents = answers.flatMap((answer) => urlsIn('the resource metadata', documentOf(answer)));
  const challenge = headerUrls(await subject.fact(anonymousPost));
  const { origin } = new URL(subject.url);
  const [place = ''] = authorizationServerMetadataUrls(origin);
  const issuer = await ask(subject, place, { headers: { accept: 'application/json' } });
  return [...challenge, ...documents, ...urlsIn('the authorization server metadata', documentOf(issuer))];
}

/** Every URL the server publishes is one that clients can use: its public name and scheme, and no inner one. */
export const hostCheck: Check = {
  id: 'PROXY-HOST',
  section: 'proxy',
  title: 'The server publishes its public name, not the one behind the proxy',
  clause: 'RFC 9728 section 3.3',
  async judge(subject) {
    const outside = new URL(subject.url);
    const published = await publishedUrls(subject);
    if (published.length === 0) return unknown('The server publishes no URL that could be judged.');
    const leaks = published.flatMap((one) => {
      const why = leakOf(one, outside);
      return why === undefined ? [] : [`${one.where} is ${quote(one.url.href)}: ${why}`];
    });
    if (leaks.length === 0) return pass(`All ${published.length} published URLs can be used from outside.`);
    return fail(
      `${leaks.slice(0, 3).join('; ')}${leaks.length > 3 ? `; and ${leaks.length - 3} more` : ''}.`,
      `Tell the server its public URL, which begins with ${outside.origin} (Gatehouse: publicUrl), or have the proxy pass the name on.`,
      await hintsFor(subject, 'host'),
    );
  },
};

const passOn = 'Pass the path on as it came, and tell the server its public URL.';

/** The prefix under which the proxy publishes the server reaches the server. */
export const prefixCheck: Check = {
  id: 'PROXY-PREFIX',
  section: 'proxy',
  title: 'The path reaches the server whole',
  clause: 'RFC 9728 section 3.3',
  // What is redirected arrives at no path at all.
  needs: ['PROXY-REDIRECT'],
  async judge(subject) {
    const straight = await subject.fact(anonymousPost);
    const named = await namedPaths(subject, straight);
    if (named.length === 0) return unknown('The server says nowhere under which path it believes to stand.');
    const called = pathOf(subject.url);
    if (!named.includes(called)) return judgeOthers(subject, called, named);
    if (straight.kind === 'answered' && (straight.status === 404 || isPage(straight)))
      return fail(
        `The server names ${called} as its path, but what is sent there is answered with ${isPage(straight) ? 'a page' : 'an error'} (status ${straight.status}): it arrives at another path, or elsewhere.`,
        passOn,
        await hintsFor(subject, 'prefix_stripped'),
      );
    const lost = await findLost(subject, called, straight);
    if (lost === undefined) return pass(`The server knows the path it is called by, ${called || '/'}.`);
    return fail(
      `${lost} is lost on the way: ${lost}${called} is answered like ${called}, so the server gets the path without it. What it gives out with its whole path, such as the pages of a login, is not found.`,
      passOn,
      await hintsFor(subject, 'prefix_stripped', { path: lost }),
    );
  },
};

/** The paths under which the server believes to stand, as its metadata and its challenge name them. */
async function namedPaths(subject: Subject, straight: Answer): Promise<string[]> {
  const documents = (await subject.fact(metadataAnswers)).map(documentOf);
  const resources = documents.flatMap((document) =>
    typeof document?.resource === 'string' ? [document.resource] : [],
  );
  const challenge = straight.kind === 'answered' ? (straight.headers.get('www-authenticate') ?? '') : '';
  const metadata = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
  return [...resources, ...(metadata === undefined ? [] : [metadata])].flatMap((text) => {
    const path = URL.parse(text)?.pathname.replace(wellKnown.protectedResource, '').replace(/\/+$/, '');
    return path === undefined ? [] : [path];
  });
}

/** Judges a server that knows other paths than the one it is called by. */
async function judgeOthers(subject: Subject, called: string, named: readonly string[]): Promise<Judgement> {
  const short = named.find((path) => path !== '' && called.endsWith(path));
  if (short !== undefined)
    return fail(
      `Clients call ${called}, but the server believes to stand at ${short}: ${called.slice(0, -short.length)} is lost on the way.`,
      passOn,
      await hintsFor(subject, 'prefix_stripped'),
    );
  const long = called === '' ? undefined : named.find((path) => path.endsWith(called));
  if (long !== undefined) {
    const prefix = long.slice(0, long.length - called.length);
    return fail(
      `Clients call ${called}, but the server believes to stand at ${long}: its public URL has ${prefix}, and the proxy publishes it without.`,
      `Publish the server below ${prefix}, or take ${prefix} out of its public URL.`,
      await hintsFor(subject, 'prefix_stripped', { path: prefix }),
    );
  }
  const above = named.find((path) => called.startsWith(`${path}/`));
  if (above !== undefined)
    return pass(`The server knows a path above the one it is called by, ${above || '/'}.`);
  return unknown(`The server believes to stand at ${named[0]}, and is called by ${called || '/'}.`);
}

/**
 * Finds the first segments of the path that are cut off before the server: with them twice, it gets the very path it
 * knows. A server that answers alike at any path shows nothing.
 */
async function findLost(subject: Subject, called: string, straight: Answer): Promise<string | undefined> {
  if (straight.kind === 'unanswered') return undefined;
  const segments = called.split('/').slice(1);
  for (let count = 1; count < segments.length; count++) {
    const prefix = `/${segments.slice(0, count).join('/')}`;
    const twice = await postTo(subject, `${prefix}${called}`);
    if (!isLike(twice, straight)) continue;
    const miss = await postTo(subject, `${prefix}/gatehouse-doctor-miss${called.slice(prefix.length)}`);
    if (!isLike(miss, straight)) return prefix;
  }
  return undefined;
}

function isLike(answer: Answer, other: Answer & { kind: 'answered' }): boolean {
  return answer.kind === 'answered' && answer.status === other.status && isPage(answer) === isPage(other);
}

function postTo(subject: Subject, path: string): Promise<Answer> {
  const { origin } = new URL(subject.url);
  return ask(subject, `${origin}${path}`, { method: 'POST', headers: mcpHeaders, body: message('ping') });
}
