import { describe, expect, it } from 'vitest';
import {
  chooseProfiles,
  describeProfile,
  profileChecks,
  profiles,
} from '../../../src/doctor/profiles/profile-checks.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { examined } from '../support/examine.ts';
import { walked } from './walked.ts';

const here = profiles.filter(({ runsOn }) => runsOn !== 'cloud').map(({ name }) => name);

describe('clients', () => {
  it('of this machine get to the login page of a sound server, and nothing is written there', async () => {
    const { findings, server } = await walked(here);
    expect(findings.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(findings).toHaveLength(here.length);
    expect(server.asked()).not.toContain('POST /register');
    expect(server.asked().filter((request) => request.includes('/authorize'))).toEqual([]);
  });

  it('of this machine register at a sound server and may begin a login', async () => {
    const { findings } = await walked(here, { active: true });
    expect(findings.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(findings[0]?.saw).toContain('authorization request');
  });

  it('of this machine that register get in at Gatehouse', async () => {
    const gatehouse = await startGatehouse();
    try {
      const chosen = profiles.filter(
        ({ name, metadataDocument }) => here.includes(name) && metadataDocument === undefined,
      );
      const { findings } = await examined(gatehouse.mcpUrl, profileChecks(chosen), { active: true });
      expect(findings.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    } finally {
      await gatehouse.stop();
    }
  });

  it('of a data centre are skipped where the server is on loopback, and the finding says why', async () => {
    const { verdicts, finding } = await walked(['claude-ai', 'chatgpt']);
    expect(verdicts).toEqual({ 'CLIENT-CLAUDE-AI': 'skip', 'CLIENT-CHATGPT': 'skip' });
    expect(finding.saw).toContain('claude.ai connectors calls from a data centre');
    expect(finding.saw).toContain('https');
  });

  it('that differ get different verdicts: a slash stops VS Code and Gemini CLI, and no other', async () => {
    const { verdicts } = await walked(here, {
      fault: (server) => {
        for (const name of ['/mcp', ''])
          server.publish(`GET /.well-known/oauth-protected-resource${name}`, {
            resource: `${server.origin}/`,
          });
      },
    });
    const stopped = Object.keys(verdicts).filter((id) => verdicts[id] === 'fail');
    expect(stopped).toEqual(['CLIENT-VSCODE', 'CLIENT-GEMINI-CLI']);
  });

  it('are described with grounds for each statement', () => {
    const [first] = profiles;
    if (first === undefined) throw new Error('no profile');
    const text = describeProfile(first);
    expect(text).toContain(`Claude Code ${first.observed}, described on ${first.version}`);
    expect(text).toMatch(/\(report: https:\/\/github\.com\/anthropics\/claude-code\/issues\/\d+\)/);
  });
});

describe('profiles of clients', () => {
  it('are chosen by name, in the order of the table', () => {
    expect(chooseProfiles(['vscode', 'claude-code']).map(({ name }) => name)).toEqual([
      'claude-code',
      'vscode',
    ]);
    expect(chooseProfiles(['all'])).toBe(profiles);
  });

  it('that do not exist are refused with the names there are', () => {
    expect(() => chooseProfiles(['netscape'])).toThrow(/no client netscape.*claude-code.*sdk-v1/s);
  });
});
