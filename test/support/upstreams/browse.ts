import type { UpstreamPerson } from './people.ts';

/** A browser without a screen, for the pages of the stand-ins: keeps cookies, fills in their forms. */
export interface Walker {
  /**
   * Goes to an authorization URL and through the pages, as a person.
   * @returns the URL of the first redirect that leaves the upstream: the callback
   */
  walk(url: string, person: UpstreamPerson, answer?: 'allow' | 'deny'): Promise<URL>;
  /** Pages it saw a form on, by their titles. */
  readonly pages: string[];
}

/** Makes one, with a cookie jar of its own. */
export function createWalker(): Walker {
  const jar = new Map<string, string>();
  const pages: string[] = [];
  const keep = (response: Response): void => {
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      if (/expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
  };
  const go = async (url: URL, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
    keep(response);
    return response;
  };
  return {
    pages,
    async walk(start, person, answer = 'allow') {
      const { origin } = new URL(start);
      let at = new URL(start);
      let response = await go(at);
      for (let steps = 0; steps < 20; steps += 1) {
        const location = response.headers.get('location');
        if (location !== null) {
          at = new URL(location, at);
          if (at.origin !== origin) return at;
          response = await go(at);
          continue;
        }
        const page = await response.text();
        const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1];
        if (action === undefined)
          throw new Error(`${at.href} has no form: ${response.status} ${page.slice(0, 500)}`);
        pages.push(/<title>([^<]*)/.exec(page)?.[1] ?? '');
        const { login, password } = person;
        const form: Record<string, string> = page.includes('name="login"') ? { login, password } : { answer };
        at = new URL(action.replaceAll('&amp;', '&'), at);
        response = await go(at, { method: 'POST', body: new URLSearchParams(form) });
      }
      throw new Error(`no end in sight at ${at.href}`);
    },
  };
}
