import type { Registration, UsableAuthorizationServer } from '../../client/index.ts';
import { clientAuthentication } from '../../client/oauth-client.ts';
import { quote } from '../../client/quote.ts';
import { asText, parseObject, readForeignAnswer } from '../../oauth/foreign-json.ts';
import type { ReadingToleranceName } from '../../oauth/reading-tolerances.ts';
import { type Answer, ask } from '../ask.ts';
import type { Subject } from '../subject.ts';

/** Tokens of one answer. They are used and never shown. */
export interface IssuedTokens {
  accessToken: string;
  refreshToken?: string;
  /** As sent, e.g. `Bearer`. */
  tokenType?: string;
  expiresInSeconds?: number;
  scope?: string;
}

/** Response of the token endpoint. */
export interface TokenAnswer {
  answer: Answer;
  /** The JSON object of the answer, if it is one. */
  body?: Readonly<Record<string, unknown>>;
  /** The `error` of a refusal. */
  error?: string;
  tokens?: IssuedTokens;
  /** Deviations from the standard that were tolerated, each the end of a sentence. */
  slips?: readonly string[];
  /** Arrival time of the response, epoch milliseconds of this machine. */
  atMs: number;
}

/** Slips that `LOGIN-TOKEN-RESPONSE` has sentences of its own for. */
const judgedElsewhere = new Set<ReadingToleranceName>(['mediaType', 'missingTokenType']);

function readTokens(body: Readonly<Record<string, unknown>>): IssuedTokens | undefined {
  const accessToken = asText(body.access_token);
  if (accessToken === undefined) return undefined;
  const refreshToken = asText(body.refresh_token);
  const tokenType = asText(body.token_type);
  const scope = asText(body.scope);
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
  const { status, headers: fields, text } = answer;
  const slips: string[] = [];
  const contentType = fields.get('content-type');
  const read = readForeignAnswer({ status, contentType, text }, 'token', ({ tolerance, because }) => {
    if (!judgedElsewhere.has(tolerance)) slips.push(because);
  });
  const json = read?.members ?? parseObject(text);
  if (json === undefined) return { answer, slips, atMs };
  const error = asText(json.error);
  const tokens = read?.status === 200 ? readTokens(read.members) : undefined;
  return {
    answer,
    body: json,
    ...(error === undefined ? {} : { error }),
    ...(tokens ? { tokens } : {}),
    slips,
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
