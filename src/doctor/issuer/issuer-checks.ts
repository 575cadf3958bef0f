import type { Check } from '../check.ts';
import { discoveryChecks } from './discovery-checks.ts';
import { endpointChecks } from './endpoint-checks.ts';
import { keyChecks } from './key-checks.ts';
import { supportChecks } from './support-checks.ts';

/** Section "issuer": the metadata of the authorization server. */
export const issuerChecks: readonly Check[] = [
  ...discoveryChecks,
  ...endpointChecks,
  ...supportChecks,
  ...keyChecks,
];
