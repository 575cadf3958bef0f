export { allChecks } from './all-checks.ts';
export type { Check, Finding, Verdict } from './check.ts';
export { chooseChecks, examine, type Report } from './examine.ts';
export { countConsents } from './login/consent.ts';
export { thisMachine } from './machine/machine.ts';
export { chooseProfiles, describeProfile, profileChecks, profiles } from './profiles/profile-checks.ts';
export { toBundle, toJsonReport } from './report/json-report.ts';
export { toJunit } from './report/junit.ts';
export {
  type Cause,
  countVerdicts,
  findCauses,
  outcomeOf,
  type Threshold,
  thresholds,
  type VerifyMeans,
  verifyCommand,
} from './report/outcome.ts';
export type { LoginMeans } from './subject.ts';
export { tokenAtHand } from './token/token-at-hand.ts';
