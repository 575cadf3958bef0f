import { createKeyedQueue } from '../../collections/fair-queue.ts';
import {
  dropCredential,
  dropRegistration,
  emptyBook,
  endCredential,
  findFormerIn,
  findIn,
  findRegistrationIn,
  putCredential,
  putRegistration,
} from './credential-book.ts';
import type { CredentialStore } from './credential-store.ts';

/** @returns a store that lives as long as the process, for tests and for hosts that keep nothing */
export function createMemoryStore(): CredentialStore {
  const book = emptyBook();
  return {
    findRegistration: async (issuer, clientId) => structuredClone(findRegistrationIn(book, issuer, clientId)),
    saveRegistration: async (registration) => putRegistration(book, structuredClone(registration)),
    forgetRegistration: async (issuer, clientId) => dropRegistration(book, issuer, clientId),
    findCredential: async (server) => structuredClone(findIn(book, server)),
    saveCredential: async (server, credential, renewed) =>
      putCredential(book, server, structuredClone(credential), renewed),
    forgetCredential: async (credential) => dropCredential(book, credential),
    endCredential: async (credential) => endCredential(book, credential),
    findFormerLogin: async (server) => structuredClone(findFormerIn(book, server)),
    exclusively: createKeyedQueue(),
  };
}
