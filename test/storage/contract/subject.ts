import { onTestFinished } from 'vitest';
import type { Account } from '../../../src/storage/accounts.ts';
import type { PutArtifact, PutGrant } from '../../../src/storage/artifacts.ts';
import type { Storage } from '../../../src/storage/storage.ts';

/** Opens a storage with nothing in it. */
export type OpenStorage = () => Promise<Storage> | Storage;

/** Any time, epoch seconds. */
export const startOfTime = 1_800_000_000;

/** Opens a storage for the running test and closes it at its end. */
export async function openForTest(open: OpenStorage): Promise<Storage> {
  const storage = await open();
  onTestFinished(() => storage.close());
  return storage;
}

/** An account with this id. */
export function account(id: string): Account {
  return { id, email: `${id}@example.com`, passwordHash: `hash of ${id}`, createdAt: startOfTime };
}

/** A payload whose bytes say what it is. */
export function payload(text: string): Uint8Array {
  return Buffer.from(text);
}

/** The change that writes a grant of an account. */
export function grant(id: string, accountId = 'ada', clientId = 'client'): PutGrant {
  return {
    type: 'putGrant',
    id,
    at: startOfTime,
    accountId,
    clientId,
    payload: payload(`grant ${id}`),
    expiresAt: startOfTime + 100,
  };
}

/** The change that writes an artifact; `more` over the defaults. */
export function artifact(id: string, more: Partial<PutArtifact> = {}): PutArtifact {
  return {
    type: 'put',
    kind: 'RefreshToken',
    id,
    payload: payload(id),
    expiresAt: startOfTime + 100,
    ...more,
  };
}
