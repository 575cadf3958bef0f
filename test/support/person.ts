import { ada } from './gatehouse.ts';
import { openConsent } from './oauth.ts';
import { createVisitor, type Visitor } from './visitor.ts';

/** What a person does with an authorization URL that some client gave them. */
export interface Decision {
  /** Who logs in; {@link ada} unless told. */
  person?: { email: string; password: string };
  /** The browser; a fresh one unless told. */
  visitor?: Visitor;
  /** The scopes left ticked; both unless told. */
  scopes?: string[];
  decision?: 'allow' | 'deny';
  /** Chooses the server on the page that asks which one is meant, given its HTML: names and values. */
  chooseServer?: (html: string) => [string, string][];
}

/**
 * Logs in where that is asked, decides, and gives the URL the browser is sent to with the answer.
 * @param url an authorization URL
 */
export async function decide(
  url: string,
  {
    person = ada,
    visitor = createVisitor(),
    scopes = ['notes:read', 'notes:write'],
    decision = 'allow',
    chooseServer,
  }: Decision = {},
): Promise<URL> {
  const page = await openConsent({ url }, visitor, person, chooseServer);
  const { response, html } = await visitor.submit(page, '/consent', [
    ['decision', decision],
    ...scopes.map((scope): [string, string] => ['scope', scope]),
  ]);
  const location = response.headers.get('location');
  if (!location) throw new Error(`no redirect to the client: ${response.status}\n${html}`);
  return new URL(location);
}
