import type { Check } from '../check.ts';
import { contentChecks } from './content-checks.ts';
import { documentChecks } from './document-checks.ts';

/** Section "resource": the protected resource metadata. */
export const resourceChecks: readonly Check[] = [...documentChecks, ...contentChecks];
