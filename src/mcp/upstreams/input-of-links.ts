import type { RequestMessage } from '../checks/messages.ts';
import { isObject } from '../conversations/client-abilities.ts';
import type { Answer, Call } from '../modern/backend.ts';
import { declaredCapabilities } from '../modern/bridged-call.ts';
import { inputMethods, missingCapabilities } from '../modern/client-inputs.ts';
import { hasFailed } from './ask-for-links.ts';
import { upstreamsOf } from './caller-upstreams.ts';
import { invitation } from './link-needed.ts';

/**
 * How long the retry of a call waits for its person, who has only just been sent to the page, in milliseconds. Clients
 * wait a minute for an answer.
 */
const patienceMs = 30_000;

/** How the keys of what is asked for begin; the name of the upstream follows. */
const keyPrefix = 'gatehouse-link-';

/** What the person answered for an upstream, by the name of its key; undefined where nobody was asked. */
function responses({ params }: RequestMessage): [string, unknown][] {
  const given = params?.inputResponses;
  return isObject(given) ? Object.entries(given).filter(([key]) => key.startsWith(keyPrefix)) : [];
}

/**
 * Has a call wait for its person where it is the retry of one that asked them to open a URL: in this revision that they
 * agreed to is all that is told, not that they are done (C7-04).
 */
export function awaitLinks({ request, caller }: Pick<Call, 'request' | 'caller'>): void {
  const upstreams = upstreamsOf(caller.authInfo);
  const agreed = responses(request).some(
    ([, response]) => isObject(response) && response.action === 'accept',
  );
  if (upstreams && agreed) upstreams.patienceMs = patienceMs;
}

/**
 * Asks the client for what a tool lacked at an upstream, instead of the failure the tool answered. Nobody is asked twice
 * for the same, and no client that cannot open URLs: both get the answer of the tool, whose text has the URL.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-01, C4-02)
 */
export function inputOfLinks(answer: Answer, call: Pick<Call, 'request' | 'caller'>): Answer {
  const { request, caller } = call;
  const missing = upstreamsOf(caller.authInfo)?.missing;
  if (!missing || !hasFailed(answer) || !inputMethods.has(request.method)) return answer;
  const key = `${keyPrefix}${missing.upstream}`;
  const params = { mode: 'url', url: missing.url, message: invitation(missing) };
  const asked = { method: 'elicitation/create', params };
  const lacking = missingCapabilities({ jsonrpc: '2.0', id: key, ...asked }, declaredCapabilities(call));
  if (lacking || responses(request).some(([known]) => known === key)) return answer;
  const { _meta } = answer.result ?? {};
  return {
    status: 200,
    result: {
      resultType: 'input_required',
      inputRequests: { [key]: asked },
      ...(_meta === undefined ? undefined : { _meta }),
    },
  };
}
