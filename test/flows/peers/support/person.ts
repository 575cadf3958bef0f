import { createVisitor, type Visitor } from '../../../support/visitor.ts';

/** Where a page leads by itself; better-auth tells requests that look like those of a script in JSON. */
function destination({ response, html, url }: Awaited<ReturnType<Visitor['open']>>): URL | undefined {
  const isJson = response.headers.get('content-type')?.includes('json');
  const next = isJson ? (JSON.parse(html) as { url?: string }).url : response.headers.get('location');
  return typeof next === 'string' ? new URL(next, url) : undefined;
}

/**
 * A person without a screen who logs in with any name and password and agrees to everything.
 * @param start an authorization URL
 * @returns where the browser is sent with the answer, not opened yet
 */
export async function sayYes(start: string): Promise<URL> {
  const redirectUri = new URL(start).searchParams.get('redirect_uri') ?? '';
  const visitor = createVisitor();
  let page = await visitor.open(start);
  for (let pages = 0; pages < 10; pages++) {
    const next = destination(page);
    if (next?.href.startsWith(redirectUri)) return next;
    const answers: [string, string][] = [
      ['login', 'somebody'],
      ['password', 'anything'],
    ];
    page = next === undefined ? await visitor.submit(page, '', answers) : await visitor.open(next.href);
  }
  throw new Error(`no answer for the client, but ${page.url}:\n${page.html.slice(0, 500)}`);
}
