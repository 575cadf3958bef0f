import type { Context } from 'koa';
import Provider, { errors } from 'oidc-provider';
import { FetchRefused } from '../../net/fetch-refused.ts';
import type { AuditLog } from '../audit.ts';
import type { Metadata } from '../client-metadata.ts';
import type { ClientDocuments } from './client-documents.ts';
import { DocumentRefused } from './document.ts';

/** A refused document as the engine throws it: `invalid_client` for good, `temporarily_unavailable` for now. */
export class ClientDocumentError extends errors.OIDCProviderError {
  override name = 'ClientDocumentError';
  readonly retryAfterSeconds: number | undefined;
  constructor(clientId: string, refusal: DocumentRefused) {
    const { retryAfterSeconds, isOurLimit } = refusal;
    const isForGood = retryAfterSeconds === undefined;
    super(
      isForGood ? 400 : isOurLimit ? 429 : 503,
      isForGood ? 'invalid_client' : 'temporarily_unavailable',
      {
        cause: refusal,
      },
    );
    const host = URL.parse(clientId)?.host ?? '';
    const advice =
      refusal.cause instanceof FetchRefused && refusal.cause.mayPass && !isOurLimit
        ? '; an operator whose server cannot reach it sets clients.metadataDocuments.enabled to false'
        : '';
    this.error_description = `the client metadata document at ${host} was not taken: ${refusal.message}${advice}`;
    this.expose = true;
    this.allow_redirect = false;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** What was tried in a request. */
interface Attempt {
  clientId: string;
  outcome: Promise<Metadata>;
}

/**
 * Creates the look-up of clients that are described by documents, for the engine's store of clients. The engine has a
 * look-up of its own, which fetches under a guard that turns into a warning where Node's internals change, and which
 * lets requests that come together share one answer, also where they authenticate differently; it is not used.
 * @returns a function from client id to metadata; undefined for an id that is no https URL
 * @throws ClientDocumentError where the document is refused
 */
export function createDocumentLookup(
  documents: ClientDocuments,
  audit: AuditLog,
): (clientId: string) => Promise<Metadata | undefined> {
  async function get(ctx: Context | undefined, clientId: string): Promise<Metadata> {
    try {
      return await documents.find(clientId, ctx && String(ctx.state.clientAddress));
    } catch (refusal) {
      if (!(refusal instanceof DocumentRefused)) throw refusal;
      const error = new ClientDocumentError(clientId, refusal);
      if (ctx) {
        if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds));
        audit('client.document_refused', ctx, { clientId, reason: refusal.message });
      }
      throw error;
    }
  }

  return async (clientId) => {
    if (!/^https:\/\//i.test(clientId)) return undefined;
    // The engine looks for the client again to tell about its error; what failed is not tried twice in one request.
    const ctx: Context | undefined = Provider.ctx;
    const tried: Attempt | undefined = ctx?.state.clientDocument;
    if (tried?.clientId === clientId) return tried.outcome;
    const outcome = get(ctx, clientId);
    if (ctx) ctx.state.clientDocument = { clientId, outcome } satisfies Attempt;
    return outcome;
  };
}
