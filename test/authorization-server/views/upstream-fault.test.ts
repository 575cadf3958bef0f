import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { zhCn } from '../../../src/authorization-server/texts/zh-cn.ts';
import {
  renderUpstreamFault,
  type UpstreamFaultPage,
} from '../../../src/authorization-server/views/upstream-fault.ts';
import { hostile, pageStructure } from './page-structure.ts';

const page: UpstreamFaultPage = {
  fault: 'unavailable',
  label: 'Work',
  ways: [
    { name: 'again', action: '/interaction/i1/again', csrf: 'csrf-1' },
    { name: 'backToApp', action: '/interaction/i1/leave', csrf: 'csrf-1' },
  ],
  requestId: 'req-1',
};

describe('renderUpstreamFault', () => {
  it('says what happened, who to ask with which name, and the ways on (T-084)', () => {
    const html = renderUpstreamFault(en, page);
    for (const shown of ['Work cannot be reached at the moment', 'req-1', 'Try again', 'Back to the app'])
      expect(html).toContain(shown);
    expect(html.match(/class="primary"/g)).toHaveLength(1);
    expect(renderUpstreamFault(zhCn, page)).toContain('目前无法访问');
  });

  it('has one sentence for whatever is wrong with an answer, and another for whoever may not come in (T-085)', () => {
    expect(renderUpstreamFault(en, { ...page, fault: 'refused' })).toContain('could not be accepted');
    const html = renderUpstreamFault(en, { ...page, fault: 'notAdmitted' });
    expect(html).toContain('this login is not allowed here');
    expect(html).toContain('log in with it and link Work on your account page');
  });

  it('speaks of no certain app: it is shown to whoever logs in to /account as well', () => {
    const faults = ['unavailable', 'refused', 'notAdmitted'] as const;
    for (const fault of faults) {
      const ways = [{ name: 'backToAccount' as const, href: '/account' }];
      expect(renderUpstreamFault(en, { ...page, fault, ways })).not.toMatch(/\bthe app\b/);
      expect(renderUpstreamFault(zhCn, { ...page, fault, ways })).toContain('任何应用');
    }
  });

  it('links where nothing is to be posted', () => {
    const html = renderUpstreamFault(en, { ...page, ways: [{ name: 'backToAccount', href: '/account' }] });
    expect(html).toContain('<a class="button primary" href="/account">Back to your account</a>');
    expect(html).not.toContain('<form');
  });

  it('keeps the name of an upstream inert (T-059)', () => {
    expect(pageStructure(renderUpstreamFault(en, { ...page, label: hostile }))).toEqual(
      pageStructure(renderUpstreamFault(en, page)),
    );
  });
});
