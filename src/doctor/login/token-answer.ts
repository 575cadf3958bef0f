import { clientAuthentication } from '../../client/exchange.ts';
import type { Registration, UsableAuthorizationServer } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { type Answer, ask } from '../ask.ts';
import type { Subject } from '../subject.ts';
import { readObject, textOf } from './read-object.ts';

/** Tokens of one answer. They are used and never shown. */
export interface IssuedTokens {
  accessToken: string;
  refreshToken?: string;
  /** As sent, e.g. `Bearer`. */
  tokenType?: string;
  expiresInSeconds?: number;
  scope?: string;
}

/** What the token endpoint answered. */
export interface TokenAnswer {
  answer: Answer;
  /** The JSON object of the answer, where it is one. */
  body?: Record<string, unknown>;
  /** The `error` of a refusal. */
  error?: string;
  tokens?: IssuedTokens;
  /** When the answer was there, epoch milliseconds of this machine. */
  atMs: number;
}

function readTokens(body: Record<string, unknown>): IssuedTokens | undefined {
  const accessToken = textOf(body.access_token);
  if (accessToken === undefined) return undefined;
  const refreshToken = textOf(body.refresh_token);
  const tokenType = textOf(body.token_type);
  const scope = textOf(body.scope);
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(tokenType === undefined ? {} : { tokenType }),
    ...(typeof body.expires_in === 'number' ? { expiresInSeconds: body.expires_in } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
}

/**
 * Sends one request to the token endpoint and gives the answer whatever it is.
 * @param subject the server under examination
 * @param as the authorization server
 * @param client who asks
 * @param parameters the form
 * @see RFC 6749 sections 3.2, 5.1 and 5.2
 */
export async function askForTokens(
  subject: Subject,
  as: UsableAuthorizationServer,
  client: Registration,
  parameters: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const body = new URLSearchParams(parameters);
  const headers = new Headers({
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  });
  const authenticate = clientAuthentication(client, as.token_endpoint_auth_methods_supported);
  await authenticate(as, { client_id: client.clientId }, body, headers);
  const answer = await ask(subject, as.token_endpoint, { method: 'POST', headers, body: body.toString() });
  const atMs = Date.now();
  if (answer.kind === 'unanswered') return { answer, atMs };
  const json = readObject(answer.text);
  if (json === undefined) return { answer, atMs };
  const error = textOf(json.error);
  const tokens = answer.status === 200 ? readTokens(json) : undefined;
  return {
    answer,
    body: json,
    ...(error === undefined ? {} : { error }),
    ...(tokens ? { tokens } : {}),
    atMs,
  };
}

/**
 * The rest of a sentence about a token request: how it was answered, without a token in it.
 * @param given the answer
 */
export function describeTokenAnswer({ answer, body, error, tokens }: TokenAnswer): string {
  if (answer.kind === 'unanswered') return `got no answer (${answer.why})`;
  if (tokens !== undefined) return `was answered with tokens (status ${answer.status})`;
  const { status, headers } = answer;
  if (error !== undefined) {
    const why = body?.error_description;
    return `was refused with status ${status}, ${quote(error)}${typeof why === 'string' ? ` (${quote(why)})` : ''}`;
  }
  const type = headers.get('content-type') ?? 'no Content-Type';
  return `was answered with status ${status} (${quote(type)}) without an OAuth error`;
}
