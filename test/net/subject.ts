import { onTestFinished } from 'vitest';
import { FetchRefused } from '../../src/net/fetch-refused.ts';
import {
  createGuardedFetch,
  type FetchedDocument,
  type GuardedFetch,
  type GuardedFetchOptions,
} from '../../src/net/guarded-fetch.ts';
import type { TestCertificate } from '../support/certificate.ts';
import { type DocumentHost, startDocumentHost } from '../support/document-host.ts';

/** A guarded fetch that takes this machine for the internet; `options` over the defaults. */
export function guardedFetch(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  return createGuardedFetch({
    maxBytes: 5 * 1024,
    timeoutMs: 2_500,
    maxConcurrent: 8,
    resolve: async () => ['127.0.0.1'],
    mayConnect: (address) => address === '127.0.0.1',
    ...options,
  });
}

/** Starts a host of documents that ends with the test. */
export async function hostForTest(certificate?: TestCertificate, address?: string): Promise<DocumentHost> {
  const host = await startDocumentHost(certificate, address);
  onTestFinished(() => host.stop());
  return host;
}

/** The fault of a fetch that is refused; its document where it is not. */
export async function faultOf(fetching: Promise<FetchedDocument>): Promise<unknown> {
  try {
    return await fetching;
  } catch (error) {
    if (error instanceof FetchRefused) return error.fault;
    throw error;
  }
}
