import { expect } from 'vitest';

const errorCode = /<dt>Error code<\/dt>\s*<dd><span class="detail">([^<]*)<\/span>/;

/** The error code an error page of ours shows; undefined on any other page. */
export function shownCode(html: string): string | undefined {
  return errorCode.exec(html)?.[1];
}

/**
 * Expects an error page that redirects nowhere.
 * @param response an answer to a browser
 * @param code the error code it has to show
 * @param status 400 unless told
 * @returns the page
 */
export async function expectErrorPage(response: Response, code: string, status = 400): Promise<string> {
  const html = await response.text();
  expect({
    status: response.status,
    code: shownCode(html),
    location: response.headers.get('location'),
    refresh: response.headers.get('refresh'),
    type: response.headers.get('content-type'),
  }).toEqual({ status, code, location: null, refresh: null, type: 'text/html; charset=utf-8' });
  return html;
}

/** Expects that the browser is sent on to a page of ours, that is, that the request was accepted. */
export function expectAccepted(response: Response, url: string): void {
  expect(response.status).toBe(303);
  const location = response.headers.get('location') ?? '';
  expect(location.slice(0, location.lastIndexOf('/'))).toBe(`${url}/interaction`);
}
