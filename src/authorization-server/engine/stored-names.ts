import { hashSecret } from '../../crypto/secret.ts';

/** The stored name of a grant. */
export function grantKey(grantId: string): string {
  return hashSecret('Grant', grantId);
}

/** What sealed payloads are tied to: the row they stand in. */
export function payloadContext(kind: string, id: string): string {
  return `${kind}:${id}`;
}
