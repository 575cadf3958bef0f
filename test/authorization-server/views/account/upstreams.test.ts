import { describe, expect, it } from 'vitest';
import { en } from '../../../../src/authorization-server/texts/en.ts';
import {
  type LinkedUpstream,
  renderLinkOfAnother,
  renderUpstreamLink,
  renderUpstreams,
  renderUpstreamUnlink,
} from '../../../../src/authorization-server/views/account/upstreams.ts';

const frame = { url: 'https://gate.example/account', csrf: 'token' };
const company = { name: 'company', label: 'Example <b>Ltd.</b>' };
const linked: LinkedUpstream = {
  ...company,
  person: 'ada@example.com',
  linkedAt: 1_800_000_000,
  checkedAt: 1_800_000_060,
  scopes: ['openid', 'files.read'],
  hasTokens: true,
  use: 'login',
};

const list = (change: Partial<LinkedUpstream>, others: (typeof company)[] = []) =>
  renderUpstreams(en, { ...frame, linked: [{ ...linked, ...change }], others });

describe('the page of accounts elsewhere', () => {
  it('says who one is there, since when, what is kept and allowed, and when it was checked', () => {
    const page = list({});
    expect(page).toContain('Your account there: <bdi class="name">ada@example.com</bdi>');
    expect(page).toContain('Jan 15, 2027, 8:00 AM UTC');
    expect(page).toContain('Jan 15, 2027, 8:01 AM UTC');
    expect(page).toContain('stores its tokens');
    expect(page).toContain('files.read');
    expect(page).toContain('You can log in with it.');
    expect(page).not.toContain('Not reachable');
  });

  it('lists nothing as allowed there where no tokens are kept', () => {
    const page = list({ hasTokens: false });
    expect(page).toContain('stores no tokens of it');
    expect(page).not.toContain('files.read');
  });

  it('says since when a service does not answer, and what one that is for tools or gone is for', () => {
    expect(list({ unreachableSince: 1_800_000_120 })).toContain('Not reachable since Jan 15, 2027, 8:02');
    expect(list({ use: 'tools' })).toContain('It is only for tools');
    expect(list({ use: 'gone' })).toContain('does not work with this service any more');
  });

  it('leads to the pages that link and unlink, and names are inert', () => {
    const page = list({}, [{ name: 'other', label: 'Other' }]);
    expect(page).toContain('href="https://gate.example/account/upstreams/company/unlink"');
    expect(page).toContain('href="https://gate.example/account/upstreams/other/link"');
    expect(page).toContain('Example &lt;b&gt;Ltd.&lt;/b&gt;');
    expect(renderUpstreams(en, { ...frame, linked: [], others: [] })).toContain('No account elsewhere');
  });
});

describe('the page that links an account elsewhere', () => {
  it('says what is asked for there before anybody goes (A11-03)', () => {
    const page = renderUpstreamLink(en, { ...frame, upstream: company, scopes: ['openid', 'files.read'] });
    expect(page).toMatch(
      /<form method="post" action="https:\/\/gate\.example\/account\/upstreams\/company\/link">/,
    );
    for (const scope of ['openid', 'files.read']) expect(page).toContain(scope);
    expect(page).toContain('name="csrf" value="token"');
  });
});

describe('the page of a link that another account was asked for', () => {
  it('says so, and has no form but that of the logout (C7-04)', () => {
    const page = renderLinkOfAnother(en, { ...frame, upstream: company });
    expect([...page.matchAll(/<form[^>]* action="([^"]*)"/g)].map(([, action]) => action)).toEqual([
      'https://gate.example/account/logout',
    ]);
    expect(page).toContain('Nothing was linked.');
  });
});

describe('the page that unlinks an account elsewhere', () => {
  const action = '<form method="post" action="https://gate.example/account/upstreams/company/unlink">';

  it('says what ends with it, and asks', () => {
    const page = renderUpstreamUnlink(en, { ...frame, upstream: company, isOnlyWay: false });
    expect(page).toContain(action);
    expect(page).toContain('lose their access at once');
  });

  it('has no form where nobody could log in any more, and says what to do first', () => {
    const page = renderUpstreamUnlink(en, { ...frame, upstream: company, isOnlyWay: true });
    expect(page).not.toContain('<form');
    expect(page).toContain('add a passkey');
  });
});
