/** Steps at which a client may stop, in order. */
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

/** Result of one step for a client: continue, stop, or unknown from here. */
export type ReplayStep = { name: ReplayStepName; evidence?: readonly number[] } & (
  | { kind: 'goes_on'; saw: string }
  | { kind: 'stops'; saw: string; clause: string; fix: string }
  | { kind: 'unknown'; saw: string }
  /** The client runs on machines that this server is not meant to be reached from. */
  | { kind: 'out_of_reach'; saw: string }
  /** The way ends here, and well: there is nothing to log in to. */
  | { kind: 'inside'; saw: string }
);
