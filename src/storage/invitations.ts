/** Leave to register clients, given by the operator: an initial access token (RFC 7591 section 3), known by its hash. */
export interface Invitation {
  /** Hashed token. */
  id: string;
  /** Clients that may still be registered with it. */
  usesLeft: number;
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds. */
  expiresAt: number;
}

/** Invitations. They are used in a commit, by `useInvitation`; the sweep removes those that have expired. */
export interface InvitationStore {
  /** Keeps a new one. */
  add(invitation: Invitation): Promise<void>;
  /** Gives an invitation, used up and expired or not; undefined where there is none. */
  find(id: string): Promise<Invitation | undefined>;
}
