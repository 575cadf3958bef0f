import { describe, expect, it } from 'vitest';
import { replayAddress } from '../../../src/doctor/profiles/first-contact-replay.ts';
import { claudeAi } from '../../../src/oauth/client-profiles/claude.ts';
import { sdkV1 } from '../../../src/oauth/client-profiles/tools.ts';
import { walked } from './walked.ts';

describe('the address', () => {
  it.each([
    ['https://mcp.example.com/mcp', 'goes_on'],
    ['https://mcp.example.com:8443/mcp', 'stops'],
    ['http://mcp.example.com/mcp', 'stops'],
    ['https://10.0.0.8/mcp', 'out_of_reach'],
    ['https://intranet/mcp', 'out_of_reach'],
    ['no url', 'unknown'],
  ])('%s for a client in a data centre: %s', (url, kind) => {
    expect(replayAddress(claudeAi, url).kind).toBe(kind);
  });

  it('is any for a client on this machine', () => {
    expect(replayAddress(sdkV1, 'http://127.0.0.1:3000/mcp').kind).toBe('goes_on');
  });
});

describe('the challenge', () => {
  it('of another status than 401 stops clients', async () => {
    const { finding } = await walked(['sdk-v1'], {
      fault: (server) => {
        server.routes['POST /mcp'] = () => ({ status: 403, json: {} });
        server.routes['GET /mcp'] = () => ({ status: 403, json: {} });
      },
    });
    expect(finding.saw).toContain('stops at challenge: The answer is 403');
  });

  it('behind a redirect that loses the request stops clients', async () => {
    const { finding } = await walked(['sdk-v1'], {
      fault: (server) => {
        server.routes['POST /mcp'] = () => ({ status: 301, headers: { location: '/mcp/' } });
      },
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('301') });
  });
});
