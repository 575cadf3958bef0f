import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { skip } from '../judgements.ts';
import type { Subject } from '../subject.ts';
import { type IssuerDocument, issuerDocument } from './places.ts';

/**
 * Judges the metadata of the authorization server, if there is any. The exchange that brought it is the evidence unless
 * the judgement names another.
 * @param judge what the check does with it
 */
export function judgingMetadata(
  judge: (document: IssuerDocument, subject: Subject) => Judgement | Promise<Judgement>,
): Check['judge'] {
  return async (subject) => {
    const document = await subject.fact(issuerDocument);
    return document
      ? { evidence: document.answer.evidence, ...(await judge(document, subject)) }
      : skip('There is no metadata of the authorization server.');
  };
}
