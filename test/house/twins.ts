const reason = 'its flow follows with the client of upstreams';

/** Source files that need no twin test of their own, each with the reason. */
export const withoutTwin: readonly { file: string; reason: string }[] = [
  { file: 'src/authorization-server/interactions/end-earlier.ts', reason },
  { file: 'src/authorization-server/interactions/make-grant.ts', reason },
  { file: 'src/authorization-server/upstream-login/account-steps.ts', reason },
  { file: 'src/authorization-server/upstream-login/authorization-steps.ts', reason },
  { file: 'src/authorization-server/upstream-login/begin-upstream.ts', reason },
  { file: 'src/authorization-server/upstream-login/consent-through.ts', reason },
  { file: 'src/authorization-server/upstream-login/purposes.ts', reason },
  { file: 'src/authorization-server/upstream-login/upstream-callback.ts', reason },
  { file: 'src/authorization-server/upstream-login/upstream-login.ts', reason },
  { file: 'src/authorization-server/upstream-login/upstream-pages.ts', reason },
];
