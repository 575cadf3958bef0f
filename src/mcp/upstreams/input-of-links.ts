import type { Answer, Call, Caller } from '../modern/backend.ts';
import { declaredCapabilities, inputMethods, missingCapabilities } from '../modern/client-inputs.ts';
import type { RequestMessage } from '../reading/frames.ts';
import { isRecord } from '../reading/record.ts';
import { missingOf } from './ask-for-links.ts';
import { withPatience } from './caller-upstreams.ts';

/**
 * Milliseconds that the retry of a call waits for its user, who was just sent to the page. Clients wait a minute for a
 * response.
 */
const patienceMs = 30_000;

/** Prefix of the keys of requested input; the name of the missing input follows. */
const keyPrefix = 'gatehouse-';

/** The user's responses to the requests, by key. */
function responses({ params }: RequestMessage): [string, unknown][] {
  const given = params?.inputResponses;
  return isRecord(given) ? Object.entries(given).filter(([key]) => key.startsWith(keyPrefix)) : [];
}

/**
 * Has a call wait for its person if it is the retry of one that asked them to open a URL: in this revision that they
 * agreed to is all that is told, not that they are done (C7-04).
 * @returns the caller to go on with
 */
export function awaitLinks({ request, caller }: Pick<Call, 'request' | 'caller'>): Caller {
  const agreed = responses(request).some(
    ([, response]) => isRecord(response) && response.action === 'accept',
  );
  return agreed ? { ...caller, authInfo: withPatience(caller.authInfo, patienceMs) } : caller;
}

/**
 * Asks the client for what its person has to give, such as what a tool lacked at an upstream, instead of the failure.
 * Nobody is asked twice for the same, and no client that cannot open URLs: both get the answer as it is, whose text has the
 * URL.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-01, C4-02)
 */
export function inputOfLinks(answer: Answer, call: Pick<Call, 'request' | 'caller'>): Answer {
  const { request, caller } = call;
  const missing = missingOf(answer, caller.authInfo);
  if (!missing || !inputMethods.has(request.method)) return answer;
  const key = `${keyPrefix}${missing.name}`;
  const params = { mode: 'url', url: missing.url, message: missing.message };
  const asked = { method: 'elicitation/create', params };
  const lacking = missingCapabilities(asked, declaredCapabilities(call));
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
