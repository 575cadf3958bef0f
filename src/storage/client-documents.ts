/** What a client ID metadata document said when it was fetched last, sealed. */
export interface ClientDocumentRow {
  /** Its URL, which is the `client_id`. */
  url: string;
  payload: Uint8Array;
  /** Epoch seconds. */
  fetchedAt: number;
  /** Until when it need not be asked for again, epoch seconds. */
  freshUntil: number;
}

/** A kept document with what hangs on its client. */
export interface ListedDocument extends ClientDocumentRow {
  /** Grants that have not ended. */
  grants: number;
  /** Epoch seconds of the last use of any of them; absent where there is none. */
  usedAt?: number;
}

/** How long a document that nobody fetched again is kept, in seconds; it is not used for nearly as long. */
export const documentKeptSeconds = 30 * 86_400;

/**
 * Fetched documents: a cache that outlives the process and is one for all processes of an installation. Whatever is
 * dropped can be fetched again. The sweep removes what is older than `documentKeptSeconds`.
 */
export interface ClientDocumentStore {
  find(url: string): Promise<ClientDocumentRow | undefined>;
  /** Gives all documents, those fetched longest ago first. */
  list(): Promise<ListedDocument[]>;
  /**
   * Keeps a document, new or fetched again. Beyond `maxDocuments` others go, those without a grant first, those fetched
   * longest ago first.
   */
  put(document: ClientDocumentRow, maxDocuments: number): Promise<void>;
  /** Forgets a document; no effect where there is none. */
  remove(url: string): Promise<void>;
}
