import type { Context } from 'koa';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { ClientDocumentError } from '../client-documents/engine-feature.ts';
import { ClientNotAdmitted } from '../registration/admission.ts';
import { textsFor } from '../texts/page-texts.ts';
import type { Texts } from '../texts/texts.ts';
import { contentSecurityPolicy, pageHeaders } from '../views/content-security-policy.ts';
import { type ErrorPage, renderError } from '../views/error.ts';

/** Routes of the engine that a browser comes to. */
const pageRoutes = new Set([
  'authorization',
  'resume',
  'code_verification',
  'device_resume',
  'end_session',
  'end_session_confirm',
]);

/** Texts of an error page beside the error itself. */
interface ErrorWords {
  /** Name of an explanation that replaces the one for the error code. */
  explanation?: keyof Texts['error']['explanations'];
  /** Seconds to wait before the next attempt; the hint names them. */
  waitSeconds?: number;
  /** A way back to the app: a URI that was validated. */
  backTo?: string;
  /** URL of the account page if the user came from there: the hint and the link then lead back to it. */
  account?: string;
}

/**
 * Responds with an error page in the user's language, or with JSON if the client prefers JSON to HTML.
 * @param error the code of the standard, and its description in ASCII
 */
export function answerWithErrorPage(
  ctx: Context,
  status: number,
  error: { code: string; description?: string | undefined },
  { explanation, waitSeconds, backTo, account }: ErrorWords = {},
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
  const texts = textsFor(ctx);
  ctx.set('Content-Security-Policy', contentSecurityPolicy());
  ctx.type = 'html';
  const name = explanation ?? error.code;
  ctx.body = renderError(texts, {
    ...explain(texts, name),
    ...(name === 'invalid_client' ? forgetting(ctx, texts) : undefined),
    ...(waitSeconds === undefined ? undefined : { hint: texts.error.wait(waitSeconds) }),
    code: error.code,
    requestId: ctx.state.requestId,
    ...(error.description ? { detail: error.description } : undefined),
    ...(backTo === undefined ? undefined : { continueTo: { href: backTo, label: texts.error.backToApp } }),
    ...(account === undefined
      ? undefined
      : {
          hint: texts.error.fromAccount,
          continueTo: { href: account, label: texts.error.backToAccount },
        }),
  });
}

function explain({ error: { explanations } }: Texts, name: string) {
  return Object.hasOwn(explanations, name)
    ? explanations[name as keyof typeof explanations]
    : explanations.other;
}

/** Responds that the page has expired, and takes back what the request had set: nothing of it was stored. */
export function answerExpired(ctx: Context): void {
  ctx.remove('Location');
  ctx.remove('Set-Cookie');
  answerWithErrorPage(ctx, 400, { code: 'invalid_request' }, { explanation: 'expired' });
}

/** Reason why a client cannot be used: its metadata document was rejected, or the client is not approved. */
export type ClientRefusal = ClientDocumentError | ClientNotAdmitted;

/** @returns whether an error is one of {@link ClientRefusal} */
export function isClientRefusal(error: unknown): error is ClientRefusal {
  return error instanceof ClientDocumentError || error instanceof ClientNotAdmitted;
}

/** Shows the user the engine's rejection of a client that cannot be used. */
export function answerWithClientRefusal(ctx: Context, error: ClientRefusal): void {
  answerWithErrorPage(
    ctx,
    error.statusCode,
    { code: error.error, description: error.error_description },
    { explanation: error instanceof ClientNotAdmitted ? `client_${error.reason}` : 'client_document' },
  );
}

/** The engine reads a pushed request as a request object, and names what does not fit it so (RFC 9126 section 4; T-030). */
function isOfOtherClient(ctx: KoaContextWithOIDC, code: string): boolean {
  return code === 'invalid_request_object' && ctx.oidc.entities.PushedAuthorizationRequest !== undefined;
}

/** Apps that keep a registration which is gone, by the names they have in every language. */
const appNames = {
  claudeCode: 'Claude Code',
  vscode: 'VS Code',
  cursor: 'Cursor',
  codex: 'Codex',
  mcpRemote: 'mcp-remote',
} as const satisfies Record<keyof Texts['error']['forget'], string>;

/** For a registration that is gone: which one, and how to make an app forget it (AS-9). */
function forgetting(ctx: Context, { error: { forget } }: Texts): Pick<ErrorPage, 'clientId' | 'ways'> {
  const id = ctx.query.client_id;
  const ways = Object.entries(appNames).map(([key, app]) => ({
    app,
    way: forget[key as keyof typeof appNames],
  }));
  return { ways, ...(typeof id === 'string' ? { clientId: id } : undefined) };
}

/**
 * Creates the engine's `renderError`, which shows the user an error that cannot be sent to the client. Only endpoints
 * that users visit render pages; the others respond with JSON (RFC 6749 section 5.2).
 */
export function createErrorRenderer(): NonNullable<Configuration['renderError']> {
  return (ctx: KoaContextWithOIDC, out, error) => {
    if (!pageRoutes.has(ctx.oidc.route)) {
      ctx.body = { error: out.error, error_description: out.error_description };
      return;
    }
    if (isClientRefusal(error)) return answerWithClientRefusal(ctx, error);
    const expired = error.name === 'SessionNotFound';
    answerWithErrorPage(
      ctx,
      Math.max(ctx.status, 400),
      {
        code: isOfOtherClient(ctx, out.error) ? 'invalid_request_uri' : out.error,
        description: expired ? undefined : out.error_description,
      },
      expired ? { explanation: 'expired' } : {},
    );
  };
}
