import type { Account } from './accounts.ts';

/** Somebody as an identity provider knows them. */
export interface Identity {
  /** Its issuer identifier. */
  issuer: string;
  /** Their `sub` there; unique and never given to anybody else. */
  subject: string;
}

/** Which account an identity is. */
export interface LinkIdentity extends Identity {
  type: 'linkIdentity';
  accountId: string;
  /** Epoch seconds. */
  at: number;
}

/**
 * What a request does to accounts and identities, in its commit. An account is refused where its e-mail address is taken,
 * a link where the identity is another account, or the account is another subject of the issuer (T-104).
 */
export type IdentityChange = { type: 'addAccount'; account: Account } | LinkIdentity;

/** An identity of an account. */
export interface KnownIdentity extends Identity {
  /** Epoch seconds. */
  linkedAt: number;
}

/** A removal that would leave an account no way to log in: neither a passkey nor an identity. Nothing was changed. */
export class LastWayIn extends Error {
  override name = 'LastWayIn';
  constructor() {
    super('nobody could log in to the account any more');
  }
}

/** Who is who at identity providers. A link goes with its account. */
export interface IdentityStore {
  /** Gives the account of an identity; undefined where it is nobody's. */
  findAccount(identity: Identity): Promise<string | undefined>;
  /** Gives the subject an account is at an issuer; undefined where it is none. */
  findSubject(issuer: string, accountId: string): Promise<string | undefined>;
  /** Gives the identities of an account, the oldest first. */
  listOf(accountId: string): Promise<KnownIdentity[]>;
  /**
   * Forgets who an account is at an issuer; false where it is nobody there.
   * @param waysIn issuers it can log in through, where it has no password
   * @throws LastWayIn
   */
  forget(issuer: string, accountId: string, waysIn?: readonly string[]): Promise<boolean>;
}
