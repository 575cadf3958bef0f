import { loopbackRedirectUris } from '../../client/building-blocks.ts';
import { type Check, fail, pass, unknown, warn } from '../check.ts';
import { describeRefusal, isAccepted, nativeRegistrations, portedRedirectUri } from './try-registration.ts';

/** Checks that a native client can register its exact loopback redirect URI. */
export const loopbackPortCheck: Check = {
  id: 'REG-LOOPBACK-PORT',
  section: 'registration',
  title: 'A native client can register a loopback redirect URI',
  clause: 'RFC 7591 section 3.1; RFC 8252 section 7.3',
  active: true,
  async judge(subject) {
    const probe = await subject.fact(nativeRegistrations);
    if (probe.kind === 'untried') return probe.judgement;
    const decisive = probe.untyped ?? probe.ported;
    const { evidence } = decisive.answer;
    if (isAccepted(decisive))
      return pass(
        `${portedRedirectUri} was registered.${decisive.isDeletable ? '' : ' The server offers no deletion (RFC 7592): what this examination registers stays.'}`,
        { evidence },
      );
    return fail(
      `Registering ${portedRedirectUri} ended with ${describeRefusal(decisive)}.`,
      'Let the registration endpoint take http redirect URIs on 127.0.0.1, [::1] and localhost from clients without a secret: every desktop and command line client uses one.',
      { evidence },
    );
  },
};

/** Checks that clients can declare to be native, as 2026-07-28 requires. */
export const applicationTypeCheck: Check = {
  id: 'REG-APPLICATION-TYPE',
  section: 'registration',
  title: 'A registration may say that the client is native',
  clause: 'MCP authorization 2026-07-28 "Client Registration"; OpenID Connect Registration section 2',
  active: true,
  async judge(subject) {
    const probe = await subject.fact(nativeRegistrations);
    if (probe.kind === 'untried') return probe.judgement;
    const { ported, untyped } = probe;
    const { evidence } = ported.answer;
    if (isAccepted(ported))
      return pass('A client with application_type "native" was registered.', { evidence });
    if (untyped === undefined || !isAccepted(untyped))
      return unknown('No registration was accepted, with application_type or without.', {
        because: 'REG-LOOPBACK-PORT',
      });
    return fail(
      `With application_type "native" the registration ended with ${describeRefusal(ported)}; without it, it was accepted.`,
      'Accept application_type "native" and "web", or ignore it: members that a server does not know are to be ignored (RFC 7591 section 2).',
      { evidence: [...evidence, ...untyped.answer.evidence] },
    );
  },
};

/** Checks that native clients can register without a port, because they choose it at each login. */
export const loopbackPortlessCheck: Check = {
  id: 'REG-LOOPBACK-PORTLESS',
  section: 'registration',
  title: 'A native client can register its loopback redirect URI without a port',
  clause: 'RFC 8252 section 7.3',
  active: true,
  async judge(subject) {
    const probe = await subject.fact(nativeRegistrations);
    if (probe.kind === 'untried') return probe.judgement;
    const { portless } = probe;
    if (portless === undefined)
      return unknown('Not even a redirect URI with a port was accepted.', { because: 'REG-LOOPBACK-PORT' });
    const { evidence } = portless.answer;
    const named = loopbackRedirectUris.join(' and ');
    if (isAccepted(portless)) return pass(`${named} were registered.`, { evidence });
    return warn(
      `Registering ${named} ended with ${describeRefusal(portless)}; with a port it was accepted.`,
      'Accept http loopback redirect URIs without a port, and let any port match them at the authorization endpoint. Until then each login on another port needs a registration of its own.',
      { evidence },
    );
  },
};
