import type { Check } from '../check.ts';
import { registeredMethodCheck, registeredRedirectsCheck, registrationAnswerCheck } from './answer-checks.ts';
import { keptClientCheck } from './kept-client-check.ts';
import {
  documentsFetchedCheck,
  metadataDocumentCheck,
  metadataDocumentReadCheck,
} from './metadata-document-checks.ts';
import { applicationTypeCheck, loopbackPortCheck, loopbackPortlessCheck } from './native-checks.ts';
import { clientNameCheck, plainRedirectCheck } from './policy-checks.ts';

/** The section "registration", in the order in which its checks run. */
export const registrationChecks: readonly Check[] = [
  keptClientCheck,
  metadataDocumentCheck,
  loopbackPortCheck,
  applicationTypeCheck,
  loopbackPortlessCheck,
  registrationAnswerCheck,
  registeredRedirectsCheck,
  registeredMethodCheck,
  plainRedirectCheck,
  clientNameCheck,
  metadataDocumentReadCheck,
  documentsFetchedCheck,
];
