import { describe, expect, it } from 'vitest';
import { chatgpt, codex } from '../../../src/oauth/client-profiles/openai.ts';

describe('clients of OpenAI', () => {
  it('differ in what stops them: PKCE that is not listed, an issuer with another slash', () => {
    expect(chatgpt).toMatchObject({ runsOn: 'cloud', pkce: 'must_list' });
    expect(codex).toMatchObject({ runsOn: 'machine', issuer: 'exact' });
  });

  it('come back to an address of their own', () => {
    expect(chatgpt.registrationBody.redirect_uris).toEqual([chatgpt.redirectUri]);
    expect(codex.registrationBody.redirect_uris).toEqual([codex.redirectUri]);
  });
});
