import type { Context } from 'koa';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { ClientDocumentError } from '../client-documents/engine-feature.ts';
import { contentSecurityPolicy, pageHeaders } from '../views/content-security-policy.ts';
import { type ErrorPage, renderError } from '../views/error.ts';

/** Routes of the engine that a browser comes to. */
const pageRoutes = new Set(['authorization', 'resume']);

/** What a person is told about an error code: a title, a sentence, and what to do. */
const explanations: Record<string, { title: string; message: string; hint: string }> = {
  invalid_client: {
    title: 'This app is not known here',
    message: 'The app that sent you uses a registration that this server does not have, or no longer has.',
    hint: 'In the app, remove this server and add it again, or clear its saved login. It then registers anew.',
  },
  invalid_redirect_uri: {
    title: 'This login cannot go back to the app',
    message: 'The app asked to send you to an address that it did not register.',
    hint: 'In the app, remove this server and add it again. If that does not help, tell whoever makes the app.',
  },
  client_document: {
    title: 'This app could not be looked up',
    message: 'The app is described by a document at its own site, and that document could not be used.',
    hint: 'Please try again in a moment. If that does not help, tell whoever runs this server or makes the app.',
  },
  access_denied: {
    title: 'Access was not given',
    message: 'Nothing was shared with the app.',
    hint: 'You can close this page, or begin again from the app.',
  },
  server_error: {
    title: 'Something went wrong here',
    message: 'The server could not finish this login. Nothing was shared with the app.',
    hint: 'Please try again in a moment.',
  },
  expired: {
    title: 'This login has ended',
    message: 'It was answered already, it took too long, or it was begun in another browser.',
    hint: 'Please begin again from the app.',
  },
};

const fallback = {
  title: 'The app sent a request that cannot be carried out',
  message: 'Nothing was shared with the app.',
  hint: 'Please begin again from the app. If that does not help, tell whoever makes it.',
};

/**
 * Answers with an error page, or with JSON where the client asks for JSON rather than HTML.
 * @param error the standard's code, and its description in ASCII
 * @param page what differs from the explanation of the code
 */
export function answerWithErrorPage(
  ctx: Context,
  status: number,
  error: { code: string; description?: string | undefined },
  page: Partial<ErrorPage> & { explanation?: string; redirectUri?: string } = {},
): void {
  ctx.status = status;
  ctx.set(pageHeaders);
  if (ctx.accepts('html', 'json') === 'json') {
    ctx.body = {
      error: error.code,
      ...(error.description ? { error_description: error.description } : undefined),
    };
    return;
  }
  const { explanation = error.code, redirectUri, ...overrides } = page;
  const known = Object.hasOwn(explanations, explanation) ? explanations[explanation] : undefined;
  const words = known ?? { ...fallback, message: error.description ?? fallback.message };
  ctx.set('Content-Security-Policy', contentSecurityPolicy(redirectUri));
  ctx.type = 'html';
  ctx.body = renderError({ ...words, code: error.code, requestId: ctx.state.requestId, ...overrides });
}

/** Answers where the document that describes a client was not taken: the engine's refusal, for a person. */
export function answerWithDocumentError(ctx: Context, error: ClientDocumentError): void {
  const description = error.error_description;
  answerWithErrorPage(
    ctx,
    error.statusCode,
    { code: error.error, description },
    { explanation: 'client_document', ...(description ? { message: sentence(description) } : undefined) },
  );
}

function sentence(description: string): string {
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
}

/**
 * Creates the engine's `renderError`: what cannot be told to the client is told to the person. Only where people come
 * by; the other endpoints answer JSON whatever they are asked for (RFC 6749 section 5.2).
 */
export function createErrorRenderer(): NonNullable<Configuration['renderError']> {
  return (ctx: KoaContextWithOIDC, out, error) => {
    if (!pageRoutes.has(ctx.oidc.route)) {
      ctx.body = { error: out.error, error_description: out.error_description };
      return;
    }
    if (error instanceof ClientDocumentError) return answerWithDocumentError(ctx, error);
    const expired = error.name === 'SessionNotFound';
    answerWithErrorPage(
      ctx,
      Math.max(ctx.status, 400),
      { code: out.error, description: expired ? undefined : out.error_description },
      expired ? { explanation: 'expired' } : {},
    );
  };
}
