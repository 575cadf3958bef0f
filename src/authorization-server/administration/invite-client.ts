import { randomSecret } from '../../crypto/secret.ts';
import type { InvitationStore } from '../../storage/clients.ts';
import { invitationId } from '../registration/invitation-guard.ts';
import { AdministrationRefused } from './administration-refused.ts';

/** An invitation to register clients. The token is shown here and never again: only its hash is kept. */
export interface IssuedInvitation {
  /** The initial access token (RFC 7591 section 3). */
  token: string;
  uses: number;
  /** Epoch seconds. */
  expiresAt: number;
}

const limits = { uses: 10_000, seconds: 365 * 86_400 } as const;

/**
 * Makes an invitation.
 * @param uses how many clients may be registered with it
 * @param lifeSeconds how long it is good
 * @param now epoch seconds
 * @throws AdministrationRefused where either is out of range
 */
export async function inviteClient(
  invitations: InvitationStore,
  { uses, lifeSeconds }: { uses: number; lifeSeconds: number },
  now: number,
): Promise<IssuedInvitation> {
  if (!Number.isInteger(uses) || uses < 1 || uses > limits.uses)
    throw new AdministrationRefused('invalid', `An invitation is for 1 to ${limits.uses} clients.`);
  if (!Number.isInteger(lifeSeconds) || lifeSeconds < 1 || lifeSeconds > limits.seconds)
    throw new AdministrationRefused(
      'invalid',
      'An invitation is good for a second at least and a year at most.',
    );
  // No leading hyphen: tokens are passed to command lines.
  const token = `invite_${randomSecret(32)}`;
  const expiresAt = now + lifeSeconds;
  await invitations.add({ id: invitationId(token), usesLeft: uses, createdAt: now, expiresAt });
  return { token, uses, expiresAt };
}
