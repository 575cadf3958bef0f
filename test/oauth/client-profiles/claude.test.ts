import { describe, expect, it } from 'vitest';
import { claudeAi, claudeCode } from '../../../src/oauth/client-profiles/claude.ts';
import { checkRedirectUri } from '../../../src/oauth/redirect-uri.ts';

describe('clients of Anthropic', () => {
  it('are two: one on the machine with any port of localhost, one in a data centre under its own name', () => {
    expect(claudeCode).toMatchObject({ runsOn: 'machine', metadataDocument: { needsNone: false } });
    expect(new URL(claudeCode.redirectUri)).toMatchObject({ hostname: 'localhost', pathname: '/callback' });
    expect(claudeAi).toMatchObject({ runsOn: 'cloud', userAgent: 'Claude-User' });
    expect(claudeAi.registrationBody.redirect_uris).toEqual(['https://claude.ai/api/mcp/auth_callback']);
  });

  it('register redirect URIs that our own server takes', () => {
    for (const { registrationBody } of [claudeCode, claudeAi])
      expect(registrationBody.redirect_uris.map(checkRedirectUri)).toEqual([undefined]);
  });
});
