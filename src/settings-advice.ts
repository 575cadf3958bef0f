import { isLoopbackHost } from './oauth/redirect-uri.ts';
import type { Settings } from './options.ts';

/** What advice looks at. */
export type AdvisedSettings = Pick<Settings, 'publicUrl' | 'listen' | 'trustedProxies' | 'dangerously'>;

/** Each piece of advice: when it is due, and what it says. */
const advice: readonly { isDue: (settings: AdvisedSettings) => boolean; says: string }[] = [
  {
    isDue: ({ publicUrl, trustedProxies }) =>
      publicUrl?.startsWith('https:') === true && trustedProxies.length === 0,
    says: 'publicUrl is https, so a proxy is in front, but trustedProxies is empty: all clients count as one address. List the proxy there.',
  },
  {
    isDue: ({ publicUrl, listen }) =>
      !isLoopbackHost(listen.host) && (publicUrl === undefined || publicUrl.startsWith('http:')),
    says: 'listen.host can be reached from other machines, but publicUrl is on localhost: they cannot log in. Set publicUrl to the https address of this server, or listen on 127.0.0.1.',
  },
];

/**
 * What an operator should know about settings that can be used, but probably not as they are.
 * @param settings with defaults filled in
 * @returns sentences that say what to do; none where there is nothing to say
 */
export function adviseOnSettings(settings: AdvisedSettings): string[] {
  const dangers = Object.entries(settings.dangerously).filter(([, isOn]) => isOn);
  return [
    ...advice.filter(({ isDue }) => isDue(settings)).map(({ says }) => says),
    ...dangers.map(([name]) => `dangerously.${name} is on: this installation is for development alone`),
  ];
}
