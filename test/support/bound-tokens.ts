import type { RunningGatehouse } from './gatehouse.ts';
import { approve, authorization, post, register, type Tokens } from './oauth.ts';
import type { Prover } from './proofs.ts';

/** Where to get tokens, and how. */
export interface BoundTokensChoice {
  /** Parameters of the authorization request over the usual ones. */
  parameters?: Record<string, string | undefined>;
  client?: Record<string, unknown> & { client_id: string };
  /** The scopes left ticked; those of the notes unless told. */
  scopes?: string[];
  /** Who logs in. */
  person?: { email: string; password: string };
}

/** Posts to the token endpoint with a proof of the key. */
export async function postProven(
  url: string,
  prover: Prover,
  fields: Record<string, string>,
  chosen: Partial<Parameters<Prover['prove']>[0]> = {},
): Promise<Response> {
  return post(`${url}/token`, fields, { dpop: await prover.prove({ url: `${url}/token`, ...chosen }) });
}

/** The whole way to tokens that are bound to a key: registration, login, consent, redemption with a proof. */
export async function obtainBoundTokens(
  gatehouse: Pick<RunningGatehouse, 'url' | 'mcpUrl'>,
  prover: Prover,
  { parameters = {}, client, ...decision }: BoundTokensChoice = {},
): Promise<{ clientId: string; tokens: Tokens }> {
  const { client_id: clientId, client_secret: secret } = client ?? (await register(gatehouse.url));
  const flow = authorization(gatehouse, clientId, parameters);
  const code = (await approve(flow, decision)).searchParams.get('code') ?? '';
  const response = await postProven(gatehouse.url, prover, {
    grant_type: 'authorization_code',
    client_id: clientId,
    ...(typeof secret === 'string' ? { client_secret: secret } : {}),
    redirect_uri: flow.redirectUri,
    code_verifier: flow.verifier,
    code,
  });
  if (response.status !== 200) throw new Error(`redemption: ${response.status} ${await response.text()}`);
  return { clientId, tokens: (await response.json()) as Tokens };
}
