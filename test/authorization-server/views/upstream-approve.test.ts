import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { zhCn } from '../../../src/authorization-server/texts/zh-cn.ts';
import {
  renderUpstreamApprove,
  type UpstreamApprovePage,
} from '../../../src/authorization-server/views/upstream-approve.ts';
import { hostile, pageStructure } from './page-structure.ts';

const page: UpstreamApprovePage = {
  action: '/interaction/i1/approve',
  otherAction: '/interaction/i1/other',
  csrf: 'csrf-1',
  client: { name: 'Claude Code', clientId: 'c1' },
  resourceName: 'Team notes',
  resource: 'https://notes.example/mcp',
  answer: { redirectUri: 'http://127.0.0.1:33418/callback' },
  scopes: [{ scope: 'notes:read', description: 'Read your notes', isAllowed: false }],
  learned: { facts: ['email', 'name'], label: 'Work' },
  time: { choices: ['hour', 'revoked'], longestSeconds: 86_400 },
  upstream: { name: 'work', label: 'Work', scopes: ['openid', 'email'] },
};

describe('renderUpstreamApprove', () => {
  it('names the app, the registered redirect URI, our scopes and what the upstream is asked for (A11-03)', () => {
    const html = renderUpstreamApprove(en, page);
    for (const shown of [
      '“Claude Code”',
      'http://127.0.0.1:33418/callback',
      'Read your notes',
      'Requested from Work',
      'openid email',
      'Nothing is sent to <strong>Work</strong> before you continue here',
      'learns your e-mail address and your name.',
      'name="csrf" value="csrf-1"',
      'name="upstream" value="work"',
    ])
      expect(html).toContain(shown);
    expect(renderUpstreamApprove(zhCn, page)).toContain('继续前往 Work');
  });

  it('has the refusal as its first button, so that the Enter key refuses', () => {
    const html = renderUpstreamApprove(en, page);
    expect(html.indexOf('<button')).toBe(html.indexOf('<button type="submit" name="decision" value="deny"'));
  });

  it('offers another way only where there is one', () => {
    expect(renderUpstreamApprove(en, page)).toContain('action="/interaction/i1/other"');
    expect(renderUpstreamApprove(en, { ...page, otherAction: undefined })).not.toContain('another way');
  });

  it('warns of an app that is called like one of the operator', () => {
    const client = { ...page.client, standing: 'namesake' as const };
    expect(renderUpstreamApprove(en, { ...page, client })).toContain(en.consent.namesake);
  });

  it('keeps what a client and an upstream say inert (T-059)', () => {
    const told = (text: string) =>
      renderUpstreamApprove(en, {
        ...page,
        client: { name: text, clientId: text },
        upstream: { name: 'work', label: text, scopes: [text] },
      });
    expect(pageStructure(told(hostile))).toEqual(pageStructure(told('Some text')));
  });
});
