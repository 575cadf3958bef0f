import { createAdministration } from '../../../../src/index.ts';
import { obtainTokens, register } from '../../../support/oauth.ts';
import { openState } from '../../../support/test-storage.ts';
import { createVisitor } from '../../../support/visitor.ts';

const password = 'fifty people, one request id';

/** Passwords are hashed for some at once only. */
const atOnce = 10;

async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(work))));
  return results;
}

/** Adds accounts to a data folder; gives their addresses. */
export async function addPeople(folder: string, count: number): Promise<string[]> {
  const data = await openState(folder);
  const { accounts } = createAdministration(data);
  const emails = Array.from({ length: count }, (_, at) => `person-${at}@example.com`);
  await inTurns(emails, (email) => accounts.add(email, password));
  await data.storage.close();
  return emails;
}

/** Has each of them allow one client; gives the access token of each for a path. */
export async function tokensOf(url: string, emails: readonly string[], path = '/mcp'): Promise<string[]> {
  const { client_id: clientId } = await register(url);
  const gatehouse = { url, mcpUrl: `${url}${path}` };
  return inTurns(emails, async (email) => {
    const chosen = { visitor: createVisitor(), person: { email, password }, clientId, scopes: ['mcp'] };
    return (await obtainTokens(gatehouse, { ...chosen, scope: 'mcp' })).tokens.access_token;
  });
}
