import { describe, expect, it } from 'vitest';
import {
  copilotCli,
  geminiCli,
  inspector,
  mcporter,
  mcpRemote,
} from '../../../src/oauth/client-profiles/tools.ts';

describe('tools', () => {
  it('come back to loopback', () => {
    for (const { redirectUri } of [copilotCli, geminiCli, inspector, mcpRemote, mcporter])
      expect(['localhost', '127.0.0.1']).toContain(new URL(redirectUri).hostname);
  });

  it('differ: a page, a byte for byte comparison, a strict issuer', () => {
    expect(inspector.runsOn).toBe('page');
    expect(geminiCli).toMatchObject({ resource: 'exact', issuerAtRoot: true });
    expect(copilotCli.issuer).toBe('exact');
    expect(mcpRemote.issuer).toBe('unchecked');
  });

  it('of which one registers at each login: the profile says what that leaves behind (FA-53)', () => {
    expect(mcporter.registersAgain).toBe('each_time');
    expect(mcporter.facts[0]?.says).toContain('leaves a registration and a grant behind');
  });
});
