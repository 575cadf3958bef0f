import { describe, expect, it } from 'vitest';
import { notesScopeRules, notesScopes } from '../../../src/mcp/notes/server.ts';
import { isScopeToken } from '../../../src/oauth/scope.ts';

describe('the scopes of the notes server', () => {
  it('are scope tokens, each with a sentence for the consent page', () => {
    for (const [scope, sentence] of Object.entries(notesScopes)) {
      expect(isScopeToken(scope)).toBe(true);
      expect(sentence).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('are all that its rules ask for', () => {
    const asked = Object.values(notesScopeRules).flatMap((rules) => Object.values(rules).flat());
    expect(new Set(asked)).toEqual(new Set(Object.keys(notesScopes)));
  });
});
