import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { renderServerChoice } from '../../../src/authorization-server/views/server-choice.ts';

const page = {
  action: 'https://gate.example/interaction/a/server',
  csrf: 'token',
  client: { name: 'Old <app>', clientId: 'client_1' },
  servers: [
    { name: 'Notes', resource: 'https://gate.example/notes/mcp' },
    { name: '<b>Files', resource: 'https://gate.example/files/mcp' },
  ],
};

describe('renderServerChoice', () => {
  it('offers each server by name and address, and none of them beforehand (FA-20)', () => {
    const html = renderServerChoice(en, page);
    expect(html.match(/type="radio"/g)).toHaveLength(2);
    expect(html.match(/ required>/g)).toHaveLength(2);
    expect(html).not.toContain(' checked');
    expect(html).toContain('https://gate.example/files/mcp');
  });

  it('lets the person cancel without a choice, by the first button (FA-20)', () => {
    expect(renderServerChoice(en, page)).toMatch(
      /<div class="decision">\s*<button[^>]*value="deny" formnovalidate>/,
    );
  });

  it('escapes what apps and servers are called (T-059)', () => {
    const html = renderServerChoice(en, page);
    expect(html).not.toContain('<app>');
    expect(html).not.toContain('<b>');
  });
});
