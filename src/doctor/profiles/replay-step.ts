/** Where a client may stop on its way in, in the order of the way. */
export type ReplayStepName =
  | 'address'
  | 'challenge'
  | 'resource metadata'
  | 'resource'
  | 'issuer metadata'
  | 'issuer'
  | 'PKCE'
  | 'CORS'
  | 'registration'
  | 'authorization request';

/** What a client makes of one step: goes on, stops, or nobody can tell from here. */
export type ReplayStep = { name: ReplayStepName; evidence?: readonly number[] } & (
  | { kind: 'goes_on'; saw: string }
  | { kind: 'stops'; saw: string; clause: string; fix: string }
  | { kind: 'unknown'; saw: string }
  /** The client runs where this server is not meant to be reached from. */
  | { kind: 'out_of_reach'; saw: string }
  /** The way ends here, and well: there is nothing to log in to. */
  | { kind: 'inside'; saw: string }
);
