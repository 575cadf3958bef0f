import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { describeRedirectTarget, type RedirectTarget } from './redirect-target.ts';

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
