import { quote } from '../../client/quote.ts';
import type { Answered } from '../ask.ts';
import { type Check, fail, type Judgement, pass, unknown, warn } from '../check.ts';
import { quoteOrMissing } from '../document.ts';
import type { Subject } from '../subject.ts';
import {
  describeRefusal,
  isAccepted,
  nativeRegistrations,
  type RegistrationTry,
} from './try-registration.ts';

type AcceptedTry = RegistrationTry & { answer: Answered };

/** Judges the first accepted registration. */
async function judgeAccepted(
  subject: Subject,
  judge: (attempt: AcceptedTry) => Judgement,
): Promise<Judgement> {
  const probe = await subject.fact(nativeRegistrations);
  if (probe.kind === 'untried') return probe.judgement;
  const attempt = [probe.ported, probe.untyped].find((one) => one !== undefined && isAccepted(one));
  if (attempt === undefined)
    return unknown('No registration was accepted.', { because: 'REG-LOOPBACK-PORT' });
  const { answer } = attempt;
  return { ...judge(attempt as AcceptedTry), evidence: answer.evidence };
}

/** Checks the form of the response. */
export const registrationAnswerCheck: Check = {
  id: 'REG-ANSWER',
  section: 'registration',
  title: 'A registration is answered with 201, in JSON, and not to be stored by caches',
  clause: 'RFC 7591 section 3.2.1',
  active: true,
  judge: (subject) =>
    judgeAccepted(subject, ({ answer, body, client, slips = [] }) => {
      const { status, headers } = answer;
      if (client === undefined)
        return fail(
          `The registration was answered with ${body === undefined ? describeRefusal({ answer }) : `status ${status}, and no client_id`}.`,
          'Answer with the registered client as JSON, client_id included. A page here means that something in front of the endpoint answers in its place.',
        );
      const type = headers.get('content-type');
      const caching = headers.get('cache-control');
      const faults = [
        ...(status === 201 ? [] : [`the status is ${status}, not 201`]),
        ...(/^application\/json\b/i.test(type ?? '') ? [] : [`the Content-Type is ${quoteOrMissing(type)}`]),
        ...(/\bno-store\b/i.test(caching ?? '')
          ? []
          : [`Cache-Control is ${quoteOrMissing(caching)}, not no-store`]),
        ...slips,
      ];
      if (faults.length === 0) return pass('Status 201, application/json, Cache-Control: no-store.');
      return warn(
        `In the answer to a registration ${faults.join(', and ')}.`,
        'Answer a registration with status 201, Content-Type: application/json and Cache-Control: no-store.',
      );
    }),
};

/** Checks that the requested redirect URIs were registered. */
export const registeredRedirectsCheck: Check = {
  id: 'REG-REDIRECT-URIS',
  section: 'registration',
  title: 'The redirect URIs registered are those asked for',
  clause: 'RFC 7591 section 3.2.1',
  active: true,
  judge: (subject) =>
    judgeAccepted(subject, ({ sent, body, client }) => {
      if (client === undefined) return unknown('No client was registered.', { because: 'REG-ANSWER' });
      const asked = sent.redirect_uris;
      const returned = body?.redirect_uris;
      if (
        Array.isArray(returned) &&
        returned.length === asked.length &&
        asked.every((uri) => returned.includes(uri))
      )
        return pass(`redirect_uris came back as sent: ${quote(asked)}.`);
      return {
        verdict: returned === undefined ? 'warn' : 'fail',
        saw: `redirect_uris were sent as ${quote(asked)} and came back as ${returned === undefined ? 'nothing' : quote(returned)}.`,
        fix: 'Return redirect_uris as registered, and register them as sent, byte for byte: a client compares them, and its login fails on another one.',
      };
    }),
};

/** Checks that method and secret fit each other and the request. */
export const registeredMethodCheck: Check = {
  id: 'REG-AUTH-METHOD',
  section: 'registration',
  title: 'A client gets the authentication method it asked for, and a secret only where it needs one',
  clause: 'RFC 7591 sections 2 and 3.2.1',
  active: true,
  judge: (subject) =>
    judgeAccepted(subject, ({ sent, body, client }) => {
      if (client === undefined) return unknown('No client was registered.', { because: 'REG-ANSWER' });
      const asked = sent.token_endpoint_auth_method;
      const { token_endpoint_auth_method: returned, client_secret_expires_at: expires } = body ?? {};
      const hasSecret = client.clientSecret !== undefined;
      const method = returned ?? 'client_secret_basic';
      const wantsSecret = typeof method === 'string' && method.startsWith('client_secret_');
      const faults = [
        ...(returned === undefined
          ? ['token_endpoint_auth_method is missing, which means client_secret_basic']
          : []),
        ...(method === asked || returned === undefined
          ? []
          : [`${quote(asked)} was asked for and ${quote(method)} came`]),
        ...(wantsSecret && !hasSecret
          ? [`the method is ${quote(method)}, but there is no client_secret`]
          : []),
        ...(!wantsSecret && hasSecret
          ? [`the method is ${quote(method)}, but there is a client_secret`]
          : []),
        ...(hasSecret && typeof expires !== 'number'
          ? ['client_secret_expires_at, required beside a secret, is missing']
          : []),
      ];
      if (faults.length === 0)
        return pass(`The method is ${quote(method)}, ${hasSecret ? 'with' : 'without'} a secret.`);
      return {
        verdict: wantsSecret && !hasSecret ? 'fail' : 'warn',
        saw: `In the registered client ${faults.join(', and ')}.`,
        fix: 'Return the method that holds for the client, a client_secret only for methods that use one, and client_secret_expires_at beside it (0 where it never ends).',
      };
    }),
};
