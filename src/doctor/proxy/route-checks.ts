import { quote } from '../../client/quote.ts';
import { pathOf } from '../../oauth/well-known.ts';
import { ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { isGatewayError } from '../gateway-error.ts';
import { fail, pass, unknown } from '../judgements.ts';
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
