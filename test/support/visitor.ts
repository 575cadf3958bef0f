/** A browser without a screen: keeps cookies, follows nothing by itself, reads forms out of pages. */
export interface Visitor {
  cookies: Map<string, string>;
  /** One request with the cookies; redirects are given back, not followed. */
  request(url: string, init?: RequestInit): Promise<Response>;
  /** Follows redirects as long as they stay at `origin`; gives the last answer and its URL. */
  open(url: string, init?: RequestInit): Promise<{ response: Response; url: string; html: string }>;
  /** Posts the form of a page that has this action suffix, with fields over its hidden ones. */
  submit(
    page: { html: string; url: string },
    action: string,
    fields: [string, string][],
  ): Promise<{ response: Response; url: string; html: string }>;
  /** Another browser with this one's cookies as they are now; `change` may give another value, or undefined for none. */
  copy(change?: (name: string, value: string) => string | undefined): Visitor;
}

interface StoredCookie {
  value: string;
  path: string;
}

/**
 * Creates a visitor with an empty cookie jar; `language` is what the browser sends as `Accept-Language`, `userAgent` what it
 * calls itself, `address` where a trusted proxy says that it is.
 */
export function createVisitor(
  jar = new Map<string, StoredCookie>(),
  language?: string,
  userAgent?: string,
  address?: string,
): Visitor {
  const cookies = new Map([...jar].map(([key, { value }]) => [key.split(' ')[0] ?? '', value]));

  function remember(response: Response, url: string): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/;\s*/);
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const path = attributes.find((a) => /^path=/i.test(a))?.slice(5) ?? new URL(url).pathname;
      const expired = attributes.some(
        (a) => /^expires=/i.test(a) && new Date(a.slice(8)).getTime() < Date.now(),
      );
      if (expired || value === '') {
        jar.delete(`${name} ${path}`);
        cookies.delete(name);
      } else {
        jar.set(`${name} ${path}`, { value, path });
        cookies.set(name, value);
      }
    }
  }

  function cookieHeader(url: string): string {
    const { pathname } = new URL(url);
    return [...jar.entries()]
      .filter(
        ([, { path }]) =>
          path === '/' || pathname === path || pathname.startsWith(`${path.replace(/\/$/, '')}/`),
      )
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ');
  }

  async function request(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    if (language !== undefined) headers.set('accept-language', language);
    if (userAgent !== undefined) headers.set('user-agent', userAgent);
    if (address !== undefined) headers.set('x-forwarded-for', address);
    const cookie = cookieHeader(url);
    if (cookie) headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    remember(response, url);
    return response;
  }

  async function open(
    url: string,
    init: RequestInit = {},
  ): Promise<{ response: Response; url: string; html: string }> {
    const { origin } = new URL(url);
    let at = url;
    let response = await request(at, init);
    for (let hops = 0; hops < 10; hops++) {
      const location = response.headers.get('location');
      if (!location) break;
      const next = new URL(location, at).href;
      if (new URL(next).origin !== origin) break;
      at = next;
      response = await request(at);
    }
    return { response, url: at, html: await response.text() };
  }

  return {
    cookies,
    request,
    open,
    copy(change = (_name, value) => value) {
      const changed = [...jar].flatMap(([key, cookie]): [string, StoredCookie][] => {
        const value = change(key.split(' ')[0] ?? '', cookie.value);
        return value === undefined ? [] : [[key, { ...cookie, value }]];
      });
      return createVisitor(new Map(changed), language);
    },
    async submit(page, action, fields) {
      const forms = [...page.html.matchAll(/<form\b[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)];
      const form = forms.find(([, target]) => target?.endsWith(action));
      if (!form) throw new Error(`the page has no form for ${action}:\n${page.html.slice(0, 3000)}`);
      const hidden = [...(form[2] ?? '').matchAll(/<input\b[^>]*type="hidden"[^>]*>/g)].map(([input]) => {
        const name = /name="([^"]*)"/.exec(input)?.[1] ?? '';
        const value = /value="([^"]*)"/.exec(input)?.[1] ?? '';
        return [name, value] as [string, string];
      });
      return open(new URL(form[1] ?? '', page.url).href, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams([...hidden, ...fields]).toString(),
      });
    },
  };
}
