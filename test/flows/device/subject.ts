import { ada, type RunningGatehouse } from '../../support/gatehouse.ts';
import { post, redirectUri, register } from '../../support/oauth.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

/** The grant type of a device (RFC 8628 section 3.4). */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** What a device got, and the client it is. */
export interface Waiting {
  clientId: string;
  deviceCode: string;
  userCode: string;
  url: string;
  completeUrl: string;
  interval: number;
}

/** Registers a client that may use the grant. */
export async function registerDevice(url: string, metadata: Record<string, unknown> = {}): Promise<string> {
  const { client_id } = await register(url, {
    client_name: 'A lamp',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token', deviceGrant],
    ...metadata,
  });
  return client_id;
}

/** Asks for a code as a device does; `fields` over the defaults. */
export async function askForCode(
  { url, mcpUrl }: Pick<RunningGatehouse, 'url' | 'mcpUrl'>,
  clientId: string,
  fields: Record<string, string> = {},
): Promise<Waiting> {
  const response = await post(`${url}/device/auth`, {
    client_id: clientId,
    scope: 'notes:read notes:write',
    resource: mcpUrl,
    ...fields,
  });
  if (response.status !== 200) throw new Error(`no code: ${response.status} ${await response.text()}`);
  const body = (await response.json()) as Record<string, string>;
  return {
    clientId,
    deviceCode: body.device_code ?? '',
    userCode: body.user_code ?? '',
    url: body.verification_uri ?? '',
    completeUrl: body.verification_uri_complete ?? '',
    interval: Number(body.interval),
  };
}

/** A poll: the status, and the error or the tokens. */
export async function poll(
  url: string,
  { clientId, deviceCode }: Pick<Waiting, 'clientId' | 'deviceCode'>,
  fields: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, string> }> {
  const response = await post(`${url}/token`, {
    grant_type: deviceGrant,
    client_id: clientId,
    device_code: deviceCode,
    ...fields,
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

/** Types the code; gives the page that asks whether the device is the person's own. */
export async function enterCode(waiting: Pick<Waiting, 'url' | 'userCode'>, visitor: Visitor) {
  return visitor.submit(await visitor.open(waiting.url), '/device', [['user_code', waiting.userCode]]);
}

/** Says yes to the device, and logs in where that is asked; gives the consent page. */
export async function claim(
  waiting: Pick<Waiting, 'url' | 'userCode'>,
  visitor: Visitor,
  person: { email: string; password: string } = ada,
) {
  const page = await visitor.submit(await enterCode(waiting, visitor), '/device', [['confirm', 'yes']]);
  if (!page.html.includes('name="password"')) return page;
  return visitor.submit(page, '/login', [
    ['email', person.email],
    ['password', person.password],
  ]);
}

/** The whole way of a person; gives the last page. */
export async function approveDevice(
  waiting: Pick<Waiting, 'url' | 'userCode'>,
  visitor: Visitor = createVisitor(),
  scopes: readonly string[] = ['notes:read', 'notes:write'],
) {
  return visitor.submit(await claim(waiting, visitor), '/consent', [
    ['decision', 'allow'],
    ...scopes.map((scope): [string, string] => ['scope', scope]),
  ]);
}
