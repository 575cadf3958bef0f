import { type Answer, ask, describeAnswer } from '../ask.ts';
import { type Check, pass, skip, unknown, warn } from '../check.ts';
import { exposes, mayRead, preflightFault } from '../cross-origin.ts';
import { browserOrigin, initializeRequest, preflightRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import { anonymousTools, messageOf } from './anonymous.ts';

/** Headers of POST requests up to 2025-11-25. */
const sessionFields = ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];

/** Headers of requests of 2026-07-28. */
const modernFields = ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** Headers of a request that resumes a stream. */
const resumingFields = ['authorization', 'mcp-protocol-version', 'mcp-session-id', 'last-event-id'];

const allFields = [...new Set([...sessionFields, ...modernFields, ...resumingFields])];

/** Fact: the response to the preflight request of a page. */
async function preflight(subject: Subject): Promise<Answer> {
  return ask(subject, subject.url, preflightRequest('POST', sessionFields));
}

/**
 * Returns true if a server speaks 2026-07-28, judged by its response to a request without a token.
 * @returns undefined if it requires a token first
 */
function speaksModern(answer: Answer): boolean | undefined {
  if (answer.kind === 'unanswered' || answer.status === 401 || answer.status === 403) return undefined;
  const { result } = messageOf(answer) ?? {};
  return (Object(result) as { resultType?: unknown }).resultType !== undefined;
}

/** Fact: the response to a page's request without a token. */
async function fromPage(subject: Subject): Promise<Answer> {
  return ask(subject, subject.url, initializeRequest({ origin: browserOrigin }));
}

/** Returns true if the server rejects unknown pages on purpose, as it should. */
function keepsOut(...answers: readonly Answer[]): boolean {
  return answers.some((answer) => answer.kind === 'answered' && answer.status === 403);
}

const keptOut = skip(
  `The server refuses pages of ${browserOrigin} with 403, as a server may that lists the origins it knows. Browser clients need theirs on that list.`,
);

/** Checks that a page may send the requests of clients. */
const sends: Check = {
  id: 'CORS-PREFLIGHT',
  section: 'reach',
  title: 'A browser client may call the endpoint',
  clause: 'WHATWG Fetch "CORS protocol"',
  needs: ['CHALLENGE-STATUS'],
  async judge(subject) {
    const answer = await subject.fact(preflight);
    if (keepsOut(answer, await subject.fact(fromPage))) return keptOut;
    const allow = `Answer OPTIONS with 204, before authorization, and with Access-Control-Allow-Origin, -Allow-Methods: GET, POST, DELETE and -Allow-Headers: ${allFields.join(', ')}.`;
    const fault = preflightFault(answer, 'POST', sessionFields);
    if (fault !== undefined)
      return warn(`${fault}. MCP Inspector and other clients in a browser cannot connect.`, allow, {
        evidence: answer.evidence,
      });
    // Asked apart: some servers refuse a preflight whole for one field that they do not know.
    const modern = await ask(subject, subject.url, preflightRequest('POST', modernFields));
    const resuming = await ask(subject, subject.url, preflightRequest('GET', resumingFields));
    const evidence = [...answer.evidence, ...modern.evidence, ...resuming.evidence];
    const modernFault = preflightFault(modern, 'POST', modernFields);
    const resumingFault = preflightFault(resuming, 'GET', resumingFields);
    const isModern = speaksModern((await subject.fact(anonymousTools)).modernList);
    if (isModern && modernFault !== undefined)
      return warn(
        `${modernFault}. The server speaks 2026-07-28, of which clients in a browser send that.`,
        allow,
        { evidence: modern.evidence },
      );
    const doubts = [
      ...(modernFault !== undefined && isModern === undefined
        ? [`clients of 2026-07-28 cannot connect, should the server speak that (${modernFault})`]
        : []),
      ...(resumingFault === undefined
        ? []
        : [`streams cannot be taken up again, should the server offer that (${resumingFault})`]),
    ];
    if (doubts.length > 0)
      return unknown(
        `A client in a browser may connect as up to 2025-11-25; but ${doubts.join(', and ')}. That cannot be told without a login.`,
        { evidence },
      );
    return pass(`OPTIONS is answered with ${describeAnswer(answer)} and allows what clients send.`, {
      evidence,
    });
  },
};

/** Checks that a page may read the 401 response. */
const reads: Check = {
  id: 'CORS-CHALLENGE',
  section: 'reach',
  title: 'A browser client may read the challenge',
  clause: 'WHATWG Fetch "CORS check"',
  needs: ['CORS-PREFLIGHT'],
  async judge(subject) {
    const answer = await subject.fact(fromPage);
    if (keepsOut(answer, await subject.fact(preflight))) return keptOut;
    if (answer.kind === 'unanswered') return unknown(describeAnswer(answer));
    if (!mayRead(answer))
      return warn(
        `The ${answer.status} has no Access-Control-Allow-Origin for a page: its client sees "Failed to fetch" and no status.`,
        'Send Access-Control-Allow-Origin with refusals too, not only with what succeeds.',
        { evidence: answer.evidence },
      );
    const { evidence } = answer;
    if (!exposes(answer, 'WWW-Authenticate'))
      return warn(
        'Access-Control-Expose-Headers lacks WWW-Authenticate, which a page then cannot read.',
        'Send Access-Control-Expose-Headers: WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version.',
        { evidence },
      );
    if (!exposes(answer, 'Mcp-Session-Id'))
      return unknown(
        'WWW-Authenticate can be read, Mcp-Session-Id cannot. Whether the server has sessions cannot be told without a login.',
        { evidence },
      );
    return pass('WWW-Authenticate and Mcp-Session-Id can be read.', { evidence });
  },
};

/** Checks for clients in a browser. */
export const corsChecks: readonly Check[] = [sends, reads];
