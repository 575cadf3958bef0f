import type { SealedBox } from '../../crypto/sealed-box.ts';
import { FetchRefused } from '../../net/fetch-refused.ts';
import type { FetchedDocument, GuardedFetch } from '../../net/guarded-fetch.ts';
import type { ClientDocumentRow, ClientDocumentStore } from '../../storage/clients.ts';
import { keepAcceptedRedirects, type Metadata } from '../client-metadata.ts';
import { openPayload, payloadContext } from '../engine/stored-rows.ts';
import type { Limiters } from '../limits.ts';
import { createBudgets, type DocumentLimits, freshnessBounds, freshSeconds } from './budgets.ts';
import { checkDocumentUrl, DocumentRefused, parseDocument } from './document.ts';

/** Options of the client metadata documents. */
export interface ClientDocumentsOptions {
  store: ClientDocumentStore;
  box: SealedBox;
  fetch: GuardedFetch;
  /** Returns true if documents of a host are taken. */
  isHostAllowed: (host: string) => boolean;
  /** Redirect schemes that the operator allows beside those of known apps. */
  redirectSchemes?: readonly string[];
  limits: DocumentLimits;
  /** Creates the limiters of fetches; in memory by default. */
  createLimiter?: Limiters['ofLoad'];
  /** Epoch seconds. */
  now: () => number;
}

/** Clients that are described by a document at their own URL. */
export interface ClientDocuments {
  /**
   * Returns the metadata of a client: as it was fetched while that is fresh, else fetched now.
   * @param clientId the URL of the document
   * @param address who asks, as far as that is known
   * @throws DocumentRefused
   */
  find(clientId: string, address: string | undefined): Promise<Metadata>;
  /** Returns what was fetched last, and fetches nothing; undefined if nothing was. */
  recall(clientId: string): Promise<Metadata | undefined>;
}

/** Documents kept at once (T-075). */
const maxDocuments = 2_000;

/** Answers of a host that is in trouble: they say nothing about the document. */
const troubles = new Set([408, 429, 500, 502, 503, 504]);

const kind = 'ClientDocument';

/**
 * Creates the client documents. A document that is no longer fresh is fetched again at its next use. If its host fails,
 * the content of the last 24 hours stays in use (RFC 5861 section 4), so an outage there ends no login here. Rejections
 * are not stored. Concurrent requests for one document share a fetch (T-075).
 */
export function createClientDocuments(options: ClientDocumentsOptions): ClientDocuments {
  const { store, box, fetch, isHostAllowed, redirectSchemes = [], limits, now } = options;
  const budgets = createBudgets(limits, options.createLimiter);
  const underWay = new Map<string, Promise<Metadata>>();

  const open = ({ url, payload }: ClientDocumentRow): Metadata => {
    const metadata: Metadata = openPayload(box, kind, { id: url, payload });
    return keepAcceptedRedirects(metadata, redirectSchemes) ?? { ...metadata, redirect_uris: [] };
  };

  /** A document that says nothing acceptable any more is fetched as one that is unknown. */
  async function findRow(url: string): Promise<ClientDocumentRow | undefined> {
    const row = await store.find(url);
    return row && (open(row).redirect_uris as unknown[]).length > 0 ? row : undefined;
  }

  async function keep(url: string, metadata: Metadata, fetchedAt: number, freshUntil: number): Promise<void> {
    const payload = box.seal(JSON.stringify(metadata), payloadContext(kind, url));
    await store.put({ url, payload, fetchedAt, freshUntil }, maxDocuments);
  }

  async function download(url: URL, isKnown: boolean, address: string | undefined): Promise<FetchedDocument> {
    await budgets.takeForHost(url.hostname, isKnown);
    try {
      return await fetch(url, (addresses) => budgets.takeForNetworks(addresses, isKnown), address);
    } catch (cause) {
      if (!(cause instanceof FetchRefused)) throw cause;
      throw new DocumentRefused(
        cause.message,
        cause.mayPass
          ? { cause, retryAfterSeconds: freshnessBounds.atLeast, isOurLimit: cause.fault === 'busy' }
          : { cause },
      );
    }
  }

  async function fetchAnew(url: string, isKnown: boolean, address: string | undefined): Promise<Metadata> {
    const { status, headers, body } = await download(new URL(url), isKnown, address);
    if (status !== 200)
      throw new DocumentRefused(
        `its server answered with status ${status}, not 200`,
        troubles.has(status) ? { retryAfterSeconds: freshnessBounds.atLeast } : {},
      );
    if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers['content-type'] ?? ''))
      throw new DocumentRefused('it is not served as application/json');
    const metadata = parseDocument(url, body, redirectSchemes);
    const fetchedAt = now();
    await keep(url, metadata, fetchedAt, fetchedAt + freshSeconds(headers, fetchedAt));
    return metadata;
  }

  /** Continues with the stored version of a document that cannot be fetched, for as long as it counts. */
  async function goOnWith(row: ClientDocumentRow, refusal: unknown): Promise<Metadata> {
    const ends = row.fetchedAt + freshnessBounds.atMost;
    if (!(refusal instanceof DocumentRefused)) throw refusal;
    if (refusal.retryAfterSeconds === undefined) await store.remove(row.url);
    if (refusal.retryAfterSeconds === undefined || now() >= ends || row.fetchedAt > now()) throw refusal;
    const metadata = open(row);
    await keep(row.url, metadata, row.fetchedAt, Math.min(ends, now() + freshnessBounds.atLeast));
    return metadata;
  }

  async function renew(
    url: string,
    row: ClientDocumentRow | undefined,
    address: string | undefined,
  ): Promise<Metadata> {
    if (!row && address !== undefined) await budgets.takeForAddress(address);
    try {
      return await fetchAnew(url, row !== undefined, address);
    } catch (refusal) {
      if (!row) throw refusal;
      return goOnWith(row, refusal);
    }
  }

  return {
    async find(clientId, address) {
      const fault = checkDocumentUrl(clientId);
      if (fault) throw new DocumentRefused(`a client_id that is a URL ${fault}`);
      if (!isHostAllowed(new URL(clientId).hostname))
        throw new DocumentRefused('descriptions of apps from this host are not taken here');
      const row = await findRow(clientId);
      // A row from the future is of a clock that was set back, and of unknown age.
      if (row && row.fetchedAt <= now() && now() < row.freshUntil) return open(row);
      const running = underWay.get(clientId);
      if (running) return running;
      const renewal = renew(clientId, row, address).finally(() => underWay.delete(clientId));
      underWay.set(clientId, renewal);
      return renewal;
    },
    async recall(clientId) {
      const row = await store.find(clientId);
      return row && open(row);
    },
  };
}
