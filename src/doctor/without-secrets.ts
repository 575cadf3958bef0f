import { createRedaction } from '../client/exchanges/redact.ts';
import type { Finding } from './finding.ts';

/**
 * The same finding with nothing in its sentences that looks like a token, a code or a key. Checks quote what servers
 * send, and servers send anything (T-191).
 * @param finding what a check came to
 */
export function withoutSecrets(finding: Finding): Finding {
  const { body } = createRedaction();
  return {
    ...finding,
    saw: body(finding.saw, true),
    ...(finding.fix === undefined ? {} : { fix: body(finding.fix, true) }),
  };
}
