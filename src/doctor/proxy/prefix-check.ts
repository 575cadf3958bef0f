import { pathOf, wellKnown } from '../../oauth/well-known.ts';
import { type Answer, ask } from '../ask.ts';
import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass, unknown } from '../judgements.ts';
import type { Subject } from '../subject.ts';
import { mcpHeaders, message } from './mcp-caller.ts';
import { anonymousPost, documentOf, hintsFor, isPage, metadataAnswers } from './way.ts';

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
