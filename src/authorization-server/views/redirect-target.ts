import { checkRedirectUri, isLoopbackRedirect, isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';
import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** Verified facts about the target of the authorization code. */
export interface RedirectTarget {
  /** An app on this computer, an app that took a scheme, or a site; any app on the device can be one of the first two. */
  kind: 'loopback' | 'scheme' | 'host';
  /** The host, or the scheme as it is written; plain text, to be escaped. */
  name: string;
}

/**
 * Describes a redirect URI by what is certain about it: this computer, a host, or a scheme. Hosts are given as
 * the URL parser writes them, so a name that is not ASCII shows as punycode, and they are never shortened.
 * @param redirectUri the redirect URI of the authorization request, already accepted for the client
 * @returns its description
 * @throws TypeError for a URI that could not have been registered: no page may ask for consent to it
 * @see RFC 8252 sections 7 and 8.6; MCP authorization "Localhost redirect URI risks" (A5-09, T-077)
 */
export function describeRedirectTarget(redirectUri: string): RedirectTarget {
  const fault = checkRedirectUri(redirectUri);
  if (fault) {
    throw new TypeError(`The redirect URI cannot be described (${fault}): check it before rendering a page.`);
  }
  const url = new URL(redirectUri);
  if (isLoopbackRedirect(redirectUri)) return { kind: 'loopback', name: url.hostname };
  if (isPrivateUseRedirect(redirectUri)) {
    const slashes = url.href.startsWith(`${url.protocol}//`) ? '//' : '';
    return { kind: 'scheme', name: `${url.protocol}${slashes}` };
  }
  return { kind: 'host', name: url.host };
}

/** Target after a form: the app, with the decision, or the next step. */
export type OnwardTarget = 'app' | 'step';

/**
 * Renders the page after a form that may lead to an app: it navigates by itself, and by its link if the browser does
 * not.
 * @param texts the words
 * @param url absolute and trusted, without a code or a token
 * @returns a complete HTML document that needs no script
 */
export function renderOnward(texts: Texts, url: string, target: OnwardTarget): string {
  const words = texts.onward[target];
  return renderLayout(
    texts,
    texts.layout.title(words.heading, texts.layout.product),
    markup`<h1>${words.heading}</h1>
<p>${words.message}</p>
<p><a class="button primary" href="${url}">${texts.onward.goOn}</a></p>`,
    markup`<meta http-equiv="refresh" content="0; url=${url}">
`,
  );
}

/** A device that waits for a person to enter its code on another one (RFC 8628). */
export interface DeviceRequest {
  /** The code the device shows, as it shows it. */
  userCode: string;
  /** The network address that asked for it. */
  address: string;
  /** Seconds since its request. */
  askedSecondsAgo: number;
}

/** Target of the user's response: a redirect URI, or the device that shows a code. */
export type AnswerTarget = { redirectUri: string } | { device: DeviceRequest };

/** Description of a target: the verified part, and all that is known. */
export interface DescribedTarget {
  /** Of a device nothing is certain but its code: whoever asks may name any app (RFC 8628 section 5.4). */
  kind: RedirectTarget['kind'] | 'device';
  /** The host, the scheme or the code; plain text, to be escaped. */
  name: string;
  detail: string;
}

/**
 * Describes the target of a response.
 * @param texts the words
 * @throws TypeError as `describeRedirectTarget`
 */
export function describeAnswerTarget(texts: Texts, answer: AnswerTarget): DescribedTarget {
  if ('redirectUri' in answer)
    return { ...describeRedirectTarget(answer.redirectUri), detail: displayText(answer.redirectUri, 300) };
  const { userCode, address, askedSecondsAgo } = answer.device;
  return {
    kind: 'device',
    name: userCode,
    detail: texts.device.askedFrom(displayText(address), askedSecondsAgo),
  };
}
