import { createHash } from 'node:crypto';

const style = `:root{color-scheme:light dark;--ink:#1c1b19;--soft:#5f5b53;--ground:#faf8f4;--line:#ddd7cb}
@media (prefers-color-scheme:dark){:root{--ink:#eeeae2;--soft:#a8a196;--ground:#191815;--line:#3a3731}}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{max-width:30rem;margin:1.5rem;padding:2rem;border:1px solid var(--line);border-radius:.75rem}
h1{margin:0 0 .5rem;font-size:1.25rem}p{margin:0;color:var(--soft);overflow-wrap:anywhere}`;

/** Headers of the page: nothing is loaded, run, framed, kept or passed on. */
export const callbackPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
} as const;

/** @returns the text with every character escaped that means something in HTML */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * The page a browser shows after the redirect. It repeats nothing of the query: error texts may be forged (A6-10).
 * @param heading what happened
 * @param text what to do now
 */
export function callbackPage(heading: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(heading)}</title><style>${style}</style></head>
<body><main><h1>${escapeHtml(heading)}</h1><p>${escapeHtml(text)}</p></main></body>
</html>
`;
}
