import type { Context } from 'koa';
import { type Configuration, errors } from 'oidc-provider';
import type { AuditLog } from '../audit.ts';
import type { ClientDocuments } from './client-documents.ts';
import { DocumentRefused } from './document-refused.ts';

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
    this.error_description = `the client metadata document at ${host} was not taken: ${refusal.message}`;
    this.expose = true;
    this.allow_redirect = false;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** What was tried in a request. */
interface Attempt {
  clientId: string;
  outcome: Promise<void>;
}

/** Documents are taken in the form of draft-02, which asks of them what the draft of MCP does, and more. */
const acknowledgedDraft = 'draft-02';

/** What the engine's own checks of a document may read: ours has passed ours, and has a few members more. */
const maxDocumentBytes = 16 * 1024;

/** The engine makes no request by itself: its guard turns into a warning where Node's internals change (F7, T-069). */
const refuseToFetch: NonNullable<Configuration['fetch']> = async () => {
  throw new TypeError('the engine fetches nothing by itself');
};

/**
 * Builds what the engine has to know of clients that are described by documents. Every time it looks for such a client it
 * asks `allowFetch` first, which gets the document; its "fetch" then gets what is kept, and no network. Its own cache,
 * which is one of this process alone, keeps nothing.
 * @param documents undefined where none are taken
 */
export function buildDocumentFeature(
  documents: ClientDocuments | undefined,
  audit: AuditLog,
): Pick<Configuration, 'fetch' | 'fetchResponseBodyLimits'> & {
  feature: NonNullable<NonNullable<Configuration['features']>['clientIdMetadataDocument']>;
} {
  if (!documents) return { fetch: refuseToFetch, feature: { enabled: false } };

  async function get(ctx: Context | undefined, clientId: string): Promise<void> {
    try {
      await documents?.find(clientId, ctx && String(ctx.state.clientAddress));
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

  return {
    feature: {
      enabled: true,
      ack: acknowledgedDraft,
      cacheDuration: { min: 0, max: 0 },
      // The engine looks for the client again to tell about its error; what failed is not tried twice in one request.
      async allowFetch(ctx, clientId) {
        const request = ctx as Context | undefined;
        const tried: Attempt | undefined = request?.state.clientDocument;
        const attempt = tried?.clientId === clientId ? tried : { clientId, outcome: get(request, clientId) };
        if (request) request.state.clientDocument = attempt;
        await attempt.outcome;
        return true;
      },
    },
    async fetch(url, options) {
      const metadata = await documents.recall(String(url));
      return metadata ? Response.json(metadata) : refuseToFetch(url, options);
    },
    fetchResponseBodyLimits: { 'client_id metadata document': maxDocumentBytes },
  };
}
