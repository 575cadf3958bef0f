import type { createAdministration } from '../../../../src/index.ts';
import type { RunningGatehouse } from '../../../support/gatehouse.ts';
import { obtainTokens, register } from '../../../support/oauth.ts';
import { createVisitor } from '../../../support/visitor.ts';

/** A client that acts for an account, with a token for each protected resource. */
export interface Principal {
  /** The account's id and the client's, as the tools of the echo server say them. */
  name: string;
  tokens: Record<'mcp' | 'sse' | 'rest', string>;
}

const accountCount = 25;
const password = 'fifty callers, one request id';
const emailOf = (account: number): string => `caller-${account}@example.com`;

/** Adds the accounts to an installation; gives their ids. */
export async function addAccounts({
  accounts,
}: Pick<ReturnType<typeof createAdministration>, 'accounts'>): Promise<string[]> {
  const added = await Promise.all(
    Array.from({ length: accountCount }, (_, account) => accounts.add(emailOf(account), password)),
  );
  return added.map(({ id }) => id);
}

/** Has every account allow two clients: fifty principals, of which any two differ in the account or in the client. */
export async function authorizePrincipals(url: string, accounts: readonly string[]): Promise<Principal[]> {
  const clients = await Promise.all([register(url), register(url)]);
  const principals: Principal[] = [];
  const waiting = [...accounts.entries()];
  const logIn = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [account, id] = next;
      const visitor = createVisitor();
      const person = { email: emailOf(account), password };
      for (const { client_id: clientId } of clients) {
        const tokenFor = async (path: string): Promise<string> => {
          const gatehouse = { url, mcpUrl: `${url}${path}` } as RunningGatehouse;
          const chosen = { visitor, person, clientId, scopes: ['mcp'], scope: 'mcp' };
          return (await obtainTokens(gatehouse, chosen)).tokens.access_token;
        };
        const tokens = {
          mcp: await tokenFor('/mcp'),
          sse: await tokenFor('/sse'),
          rest: await tokenFor('/rest'),
        };
        principals.push({ name: `${id} ${clientId}`, tokens });
      }
    }
  };
  // Passwords are hashed for some at once only: of 25 logins at once on a busy machine the last would be turned away.
  await Promise.all([logIn(), logIn(), logIn(), logIn()]);
  return principals;
}
