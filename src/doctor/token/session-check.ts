import { ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { fail, pass, skip, unknown, warn } from '../judgements.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { initializeRequest, legacyRevision, mcpRequest } from '../requests.ts';
import { tokenAtHand } from './token-at-hand.ts';
import { bearer } from './token-use.ts';

/** A session id that no server has given out. */
const staleSession = '00000000-0000-4000-8000-67617465686f';

/** Clients start anew if a server says that a session is gone. */
export const sessionCheck: Check = {
  id: 'TOKEN-SESSION',
  section: 'token',
  title: 'A session that the server does not know is answered with 404',
  clause: 'MCP transports "Session Management"',
  patienceMs: consentPatienceMs,
  async judge(subject) {
    const token = await tokenAtHand(subject);
    if (token.kind === 'missing') return token.judgement;
    const { accessToken } = token;
    const opened = await ask(subject, subject.url, initializeRequest(bearer(accessToken)));
    if (opened.kind === 'unanswered') return unknown(`No answer to initialize: ${opened.why}.`);
    if (opened.status === 401) return unknown('The server refuses the token.', { because: 'TOKEN-ACCEPTED' });
    const session = opened.headers.get('mcp-session-id');
    if (session === null) return skip('The server gives out no sessions.');
    const of = (id: string) => ({
      ...bearer(accessToken),
      'mcp-session-id': id,
      'mcp-protocol-version': legacyRevision,
    });
    const stale = await ask(subject, subject.url, mcpRequest('tools/list', {}, of(staleSession)));
    await ask(subject, subject.url, { method: 'DELETE', headers: of(session) });
    const { evidence } = stale;
    if (stale.kind === 'unanswered')
      return unknown(`No answer to a session that does not exist: ${stale.why}.`, { evidence });
    const saw = `A request with a Mcp-Session-Id that does not exist was answered with ${stale.status}.`;
    const fix =
      'Answer 404 where the session is not known: on nothing else do clients start a new one. After a restart of the server every client comes with such a session.';
    if (stale.status === 404) return pass(saw, { evidence });
    if (stale.status >= 500) return fail(saw, fix, { evidence });
    return warn(saw, fix, { evidence });
  },
};
