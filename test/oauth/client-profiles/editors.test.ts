import { describe, expect, it } from 'vitest';
import { cursor, vscode } from '../../../src/oauth/client-profiles/editors.ts';

describe('editors', () => {
  it('register redirect URIs of several kinds at once (AS-17)', () => {
    const kinds = cursor.registrationBody.redirect_uris.map((uri) => new URL(uri).protocol);
    expect(kinds).toEqual(['cursor:', 'https:', 'http:']);
    expect(vscode.registrationBody.redirect_uris).toContain('http://127.0.0.1/');
  });

  it('log in with a port that VS Code has not registered (AS-15)', () => {
    expect(vscode.registrationBody.redirect_uris).not.toContain(vscode.redirectUri);
    expect(cursor.registrationBody.redirect_uris).toContain(cursor.redirectUri);
  });
});
