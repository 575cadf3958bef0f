import { ada, type RunningGatehouse } from '../../../support/gatehouse.ts';
import { createVisitor, type Visitor } from '../../../support/visitor.ts';

/** A page that is open in a browser. */
export interface OpenPage {
  response: Response;
  url: string;
  html: string;
}

/** Opens an account page, with a login where that is asked, and gives the page. */
export async function openAccount(
  { url }: Pick<RunningGatehouse, 'url'>,
  {
    visitor = createVisitor(),
    person = ada,
    page = '',
  }: { visitor?: Visitor; person?: typeof ada; page?: string } = {},
): Promise<OpenPage & { visitor: Visitor }> {
  const opened = await visitor.open(`${url}/account${page}`);
  if (!opened.html.includes('current-password') || page === '/password') return { ...opened, visitor };
  const fields: [string, string][] = [
    ['email', person.email],
    ['password', person.password],
  ];
  const action = /action="[^"]*(\/account\/login[^"]*)"/.exec(opened.html)?.[1] ?? '/account/login';
  return { ...(await visitor.submit(opened, action, fields)), visitor };
}

/** The values of the hidden `id` fields of the forms that post to an account page. */
export function idsIn(html: string, action: string): string[] {
  const forms = html.matchAll(/<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/g);
  return [...forms]
    .filter(([, target]) => target?.endsWith(action))
    .map(([, , content = '']) => /name="id" value="([^"]*)"/.exec(content)?.[1] ?? '');
}

/** Posts one of several forms with the same action: the one with this id, and says yes where that is asked. */
export function submitWithId(
  visitor: Visitor,
  page: OpenPage,
  action: string,
  id: string,
): Promise<OpenPage> {
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
  return visitor.open(
    new URL(page.url).origin + new URL(page.url).pathname.replace(/\/account.*/, '/account') + action,
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ csrf, id, confirm: 'yes' }).toString(),
    },
  );
}
