import { quote } from '../../client/quote.ts';
import { isLocalAddress } from '../../client/url-policy.ts';
import { authorizationServerMetadataUrls } from '../../oauth/well-known.ts';
import { type Answer, ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { fail, pass, unknown } from '../judgements.ts';
import type { Subject } from '../subject.ts';
import { anonymousPost, documentOf, hintsFor, metadataAnswers } from './way.ts';

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
