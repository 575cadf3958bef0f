/** Colours of one scheme. */
export interface Palette {
  page: string;
  card: string;
  text: string;
  muted: string;
  line: string;
  field: string;
  fieldLine: string;
  accent: string;
  onAccent: string;
  focus: string;
  caution: string;
  onCaution: string;
  problem: string;
  onProblem: string;
}

/** Colours by preferred scheme; the pairs that meet on a page keep WCAG 2.2 AA contrast (1.4.3, 1.4.11). */
export const palettes: { light: Palette; dark: Palette } = {
  light: {
    page: '#f1f3f5',
    card: '#ffffff',
    text: '#1b2430',
    muted: '#52606d',
    line: '#d9dfe5',
    field: '#ffffff',
    fieldLine: '#74808c',
    accent: '#1f5f6b',
    onAccent: '#ffffff',
    focus: '#0b63ce',
    caution: '#fdf3d8',
    onCaution: '#533c05',
    problem: '#fdebea',
    onProblem: '#8c1d18',
  },
  dark: {
    page: '#12171d',
    card: '#1b222b',
    text: '#e7ecf1',
    muted: '#a7b3bf',
    line: '#323d49',
    field: '#12171d',
    fieldLine: '#7d8a97',
    accent: '#7fc4cf',
    onAccent: '#0c2026',
    focus: '#8ec2ff',
    caution: '#372d12',
    onCaution: '#f6e0a4',
    problem: '#40201f',
    onProblem: '#ffc9c4',
  },
};

function variables(palette: Palette): string {
  return Object.entries(palette)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');
}

/** The one stylesheet of all pages, inlined in each; its hash stands in the content security policy (T-017). */
export const style = `
:root{color-scheme:light dark;${variables(palettes.light)}}
@media (prefers-color-scheme:dark){:root{${variables(palettes.dark)}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;padding:1rem;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;overflow-wrap:anywhere}
main{max-width:28rem;margin:0 auto;padding:1.5rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}
header{display:flex;align-items:center;gap:.5rem;max-width:28rem;margin:.25rem auto 1rem;padding:0 .25rem;color:var(--muted);font-weight:600}
header svg{width:1.5rem;height:1.5rem;color:var(--accent)}
h1{margin:0 0 .75rem;font-size:1.375rem;line-height:1.3;font-weight:650}
h2{margin:1.75rem 0 .5rem;font-size:1.125rem;line-height:1.3;font-weight:650}
h3,.item h2{margin:0 0 .25rem;font-size:1rem;line-height:1.5;font-weight:600}
p{margin:0 0 1rem}
main>:last-child{margin-bottom:0}
.muted{color:var(--muted);font-size:.9375rem}
.name{font-weight:650}
.notice{margin:0 0 1.25rem;padding:.75rem 1rem;border-radius:.5rem;border-left:4px solid currentColor;font-size:.9375rem}
.notice p{margin:0}
.notice p+p{margin-top:.5rem}
.caution{background:var(--caution);color:var(--onCaution)}
.problem{background:var(--problem);color:var(--onProblem)}
label{display:block;font-weight:600}
.field,.group{margin:0 0 1rem}
.field input{display:block;width:100%;min-height:2.75rem;margin-top:.25rem;padding:.5rem .75rem;border:1px solid var(--fieldLine);border-radius:.5rem;background:var(--field);color:var(--text);font:inherit}
.field input[aria-invalid]{border-color:var(--onProblem)}
button,.button{display:block;width:100%;min-height:2.75rem;padding:.5rem 1rem;border:1px solid var(--fieldLine);border-radius:.5rem;background:transparent;color:var(--text);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.primary{border-color:var(--accent);background:var(--accent);color:var(--onAccent)}
.cancel{margin-top:.75rem}
.choices button+button{margin-top:.75rem}
form+dl{margin-top:1.25rem}
.link{display:inline;width:auto;min-height:1.5rem;padding:0;border:0;color:var(--accent);text-decoration:underline}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.account{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;margin:0 0 1.25rem;font-size:.9375rem}
.account p{margin:0}
dl{margin:0 0 1.25rem}
dt{color:var(--muted);font-size:.875rem}
dd{margin:0 0 .75rem}
dd:last-child{margin-bottom:0}
.detail{display:block;color:var(--muted);font:.8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
fieldset{min-width:0;margin:0 0 1.25rem;padding:0;border:0}
legend{padding:0;margin-bottom:.25rem;font-weight:600}
.scope,.option{display:flex;gap:.75rem;padding:.625rem 0;border-top:1px solid var(--line);font-weight:400;cursor:pointer}
.note{display:block;color:var(--muted);font-size:.8125rem}
.note code,.muted code{font:inherit;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.option{padding:.375rem 0;border-top:0}
.scope input,.option input{flex:none;width:1.25rem;height:1.25rem;margin:.125rem 0 0;accent-color:var(--accent)}
.code{font:600 1.5rem/1.3 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.1em;overflow-wrap:anywhere}
p.code{margin:0 0 1.25rem;text-align:center}
.decision{display:flex;flex-wrap:wrap;gap:.75rem}
.decision button,.decision .button{flex:1 1 auto;width:auto;min-width:calc(50% - .5rem)}
@media (max-width:40rem){form>.decision{position:sticky;bottom:0;margin:0 -1.5rem;padding:.75rem 1.5rem;background:var(--card);border-top:1px solid var(--line)}html{scroll-padding-bottom:6rem}}
.items{margin:0 0 1rem;padding:0;list-style:none}
.item{padding:.875rem 0;border-top:1px solid var(--line)}
.item p,.item ul{margin:0 0 .5rem}
.item ul{padding-left:1.25rem}
a{color:var(--accent)}
.or{margin:1rem 0;text-align:center}
.code{letter-spacing:.15em}
.codes{margin:0 0 1.25rem;padding:0;list-style:none;font:1rem/1.8 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.qr{display:block;width:12rem;max-width:100%;margin:0 auto 1rem;background:#fff}
`;
