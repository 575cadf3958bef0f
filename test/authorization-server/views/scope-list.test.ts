import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { type AskedScope, renderScopes } from '../../../src/authorization-server/views/scope-list.ts';

const asked = (scope: string, more: Partial<AskedScope> = {}): AskedScope => ({
  scope,
  description: `Does ${scope}.`,
  isAllowed: false,
  ...more,
});

/** Legend -> the scopes below it. */
function groups(html: string): Record<string, string[]> {
  const found = [...html.matchAll(/<fieldset><legend>([^<]*)<\/legend>([\s\S]*?)<\/fieldset>/g)];
  return Object.fromEntries(
    found.map(([, legend, body = '']) => [
      legend,
      [...body.matchAll(/name="scope" value="([^"]*)"/g)].map(([, scope]) => scope),
    ]),
  );
}

const render = (scopes: AskedScope[], freeTools: string[] = [], hasEarlier = false): string =>
  renderScopes(en, scopes, freeTools, hasEarlier).toString();

describe('the scopes on the consent page', () => {
  it('stand in one group where nothing was allowed before, with no word of earlier access', () => {
    const html = render([asked('a'), asked('b')]);
    expect(groups(html)).toEqual({ 'The app will be able to': ['a', 'b'] });
    expect(html).not.toMatch(/before|end_earlier/);
  });

  it('are told apart by what is new and what was allowed before, all with a box to untick (T-025)', () => {
    const html = render([asked('a', { isAllowed: true }), asked('b')], [], true);
    expect(groups(html)).toEqual({
      'New: the app will also be able to': ['b'],
      'Allowed before: the app will still be able to': ['a'],
    });
    expect(html).toContain('You are asked each time');
    expect(html.match(/name="scope" value="[ab]" checked/g)).toHaveLength(2);
  });

  it('come with the choice, not taken, to end what was allowed before', () => {
    expect(render([asked('a')], [], true)).toContain(
      '<input type="checkbox" name="end_earlier" value="yes">',
    );
  });

  it('name the tools they open, and the tools that need none', () => {
    const html = render([asked('a', { tools: ['add_note', 'delete_note'] })], ['whoami']);
    expect(html).toContain('Tools: <code>add_note</code>, <code>delete_note</code>');
    expect(html).toMatch(/Tools that need no permission: <code>whoami<\/code>/);
    expect(render([asked('a', { tools: [] }), asked('b')])).not.toContain('Tools');
  });

  it('name eight tools and count the others', () => {
    const tools = Array.from({ length: 11 }, (_, index) => `tool_${index}`);
    const html = render([asked('a', { tools })]);
    expect(html).toContain('<code>tool_7</code> and 3 more');
    expect(html).not.toContain('tool_8');
  });

  it('make names of tools inert and short (T-059, T-060)', () => {
    const html = render([asked('a', { tools: [`\u202E<img src=x>${'n'.repeat(200)}`] })]);
    expect(html).not.toMatch(/\u202E|<img|n{65}/);
    expect(html).toContain('<code>&lt;img src=x&gt;');
  });
});
