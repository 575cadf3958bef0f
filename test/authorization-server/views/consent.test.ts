import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { zhCn } from '../../../src/authorization-server/texts/zh-cn.ts';
import { type ConsentPage, renderConsent } from '../../../src/authorization-server/views/consent.ts';
import { hostile, pageStructure, tagWith } from './page-structure.ts';

const page: ConsentPage = {
  action: '/interaction/i1/consent',
  csrf: 'csrf-1',
  client: {
    name: 'Claude Code',
    clientId: 'https://claude.ai/oauth/client.json',
    uri: 'https://anthropic.com/claude',
  },
  account: 'ada@example.com',
  resourceName: 'Team notes',
  resource: 'https://notes.example.com/mcp',
  answer: { redirectUri: 'http://127.0.0.1:53682/callback' },
  scopes: [
    { scope: 'notes:read', description: 'Read your notes', isAllowed: false },
    { scope: 'notes:write', description: 'Change your notes', isAllowed: false },
  ],
  freeTools: [],
  learned: { facts: [], label: '' },
  hasEarlier: false,
  time: { choices: ['hour', 'day', 'revoked'], longestSeconds: 180 * 86_400 },
  switchAccountAction: '/interaction/i1/switch',
};

function decisionForm(html: string): string {
  const from = html.indexOf(`<form method="post" action="${page.action}">`);
  return html.slice(from, html.indexOf('</form>', from));
}

describe('renderConsent', () => {
  it('says that the tools cannot be listed yet, and only then (FA-60)', () => {
    const words = 'The server has not listed its tools yet';
    expect(renderConsent(en, { ...page, awaitsTools: true })).toContain(words);
    expect(renderConsent(en, { ...page, awaitsTools: false })).not.toContain(words);
    expect(renderConsent(en, page)).not.toContain(words);
  });

  it('says what the server learns about the user, before the decision; nothing if it learns nothing', () => {
    const learned = { facts: ['email', 'groups', 'login'], label: 'Work' } as const;
    const words =
      'learns your e-mail address, your groups and roles at Work, and when and how you logged in.';
    const form = decisionForm(renderConsent(en, { ...page, learned }));
    expect(form).toContain(`<bdi>Team notes</bdi> ${words}`);
    expect(form.indexOf(words)).toBeLessThan(form.indexOf('value="allow"'));
    expect(renderConsent(en, page)).not.toContain(' learns ');
    expect(renderConsent(zhCn, { ...page, learned })).toContain(
      '将获知您的电子邮箱、您在 Work 的群组与角色、您登录的时间与方式。',
    );
    const structureFor = (label: string) =>
      pageStructure(renderConsent(en, { ...page, learned: { ...learned, label } }));
    expect(structureFor(hostile)).toEqual(structureFor('Work'));
  });

  it.each([
    ['redacted', 'with some of the values that the app sends', '包括应用发送的部分内容'],
    ['full', 'with everything that the app sends', '包括应用发送的全部内容'],
  ] as const)(
    'says that the operator keeps arguments of calls (%s), before the decision',
    (kept, english, chinese) => {
      const learned = { facts: [], label: '', kept } as const;
      const form = decisionForm(renderConsent(en, { ...page, learned }));
      expect(form.indexOf(english)).toBeGreaterThan(0);
      expect(form.indexOf(english)).toBeLessThan(form.indexOf('value="allow"'));
      expect(renderConsent(zhCn, { ...page, learned })).toContain(chinese);
      expect(renderConsent(en, page)).not.toContain('keeps a record');
    },
  );

  it('names the upstream somebody came through, and the one that is asked next', () => {
    expect(renderConsent(en, { ...page, through: 'Work' })).toContain('through Work');
    expect(renderConsent(en, { ...page, next: 'Work' })).toContain(
      'If you allow this, you continue to Work next',
    );
    expect(renderConsent(en, page)).not.toMatch(/through|asked next/);
    expect(pageStructure(renderConsent(en, { ...page, through: hostile, next: hostile }))).toEqual(
      pageStructure(renderConsent(en, { ...page, through: 'Work', next: 'Work' })),
    );
  });

  it('names client, account, resource and redirect URI (A5-09)', () => {
    const html = renderConsent(en, page);
    for (const shown of [
      '“Claude Code”',
      'ada@example.com',
      'Team notes',
      'https://notes.example.com/mcp',
      'http://127.0.0.1:53682/callback',
    ]) {
      expect(html).toContain(shown);
    }
  });

  it('posts csrf, the kept scopes and the decision in one form', () => {
    const form = decisionForm(renderConsent(en, page));
    expect(form).toContain('<input type="hidden" name="csrf" value="csrf-1">');
    expect(form).toContain('<input type="checkbox" name="scope" value="notes:read" checked>');
    expect(form).toContain('<input type="checkbox" name="scope" value="notes:write" checked>');
    expect(form).toContain('type="submit" name="decision" value="allow"');
    expect(form).toContain('type="submit" name="decision" value="deny"');
  });

  it('puts Deny before Allow, so that the Enter key refuses', () => {
    const form = decisionForm(renderConsent(en, page));
    expect(form.indexOf('value="deny"')).toBeLessThan(form.indexOf('value="allow"'));
    expect(form.indexOf('<button')).toBe(form.indexOf('<button type="submit" name="decision" value="deny"'));
  });

  it('gives each scope in words, inside the label of its checkbox', () => {
    const labels = renderConsent(en, page).match(/<label class="scope">[\s\S]*?<\/label>/g) ?? [];
    expect(labels).toHaveLength(2);
    expect(labels[0]).toContain('value="notes:read"');
    expect(labels[0]).toContain('Read your notes');
    expect(labels[1]).toContain('value="notes:write"');
    expect(labels[1]).toContain('Change your notes');
  });

  it('says so when no scope is asked for', () => {
    const html = renderConsent(en, { ...page, scopes: [] });
    expect(html).toContain('The app asks for no specific permission.');
    expect(html).not.toContain('name="scope"');
  });

  it('warns that a name was not checked and says what is certain (A5-09, T-060)', () => {
    const registered = { ...page.client, clientId: 'client_1' };
    const html = renderConsent(en, {
      ...page,
      client: registered,
      answer: { redirectUri: 'https://evil.example/cb' },
    });
    expect(html).toContain('<strong>Not checked:</strong> the app chose the name');
    expect(html).toContain('Only this is certain: your approval goes to <strong>evil.example</strong>');
  });

  it('says of a document that its site vouches for name and redirect host, where the host can be told (T-077)', () => {
    const html = renderConsent(en, { ...page, answer: { redirectUri: 'https://app.claude.ai/cb' } });
    expect(html).toContain('<strong>Described by claude.ai:</strong> that site calls the app');
    expect(html).toContain(
      'Your approval goes to <strong>app.claude.ai</strong>, the destination that this site names',
    );
    expect(html).not.toContain('Not checked:');
  });

  it.each(['http://localhost:49152/callback', 'cursor://auth'])(
    'says of a document with the redirect %s that any app on the device can use it (T-077)',
    (redirectUri) => {
      const html = renderConsent(en, { ...page, answer: { redirectUri } });
      expect(html).toContain('<strong>Not checked:</strong> the app says it is');
      expect(html).toContain('described by <strong>claude.ai</strong>. Any app on this device can say that.');
      expect(html).toContain('Only this is certain');
      expect(html).toContain('Only continue if you just started this login');
    },
  );

  it('shows the host of the client identifier and the redirect host, both (T-077)', () => {
    const html = renderConsent(en, page);
    expect(html).toContain('<dt>App described by</dt>\n<dd>claude.ai <');
    expect(html).toContain('<strong>an app on this computer (127.0.0.1)</strong>');
  });

  it('warns more for a loopback redirect (A5-09, T-077)', () => {
    const caution = 'Only continue if you just started this login from an app on this computer.';
    expect(renderConsent(en, page)).toContain(caution);
    expect(
      renderConsent(en, { ...page, answer: { redirectUri: 'https://ci.example.com/cb' } }),
    ).not.toContain(caution);
  });

  it('shows the website a client names as a host, never as a link', () => {
    expect(renderConsent(en, page)).toContain('(not checked)</dt>\n<dd>anthropic.com</dd>');
    expect(renderConsent(en, page)).not.toMatch(/<a\b|href=/);
    const odd = renderConsent(en, { ...page, client: { ...page.client, uri: 'javascript:alert(1)' } });
    expect(odd).not.toContain('javascript:');
  });

  it('mentions lasting access only when the client gets it', () => {
    expect(renderConsent(en, page)).toContain('also while you are away');
    const time = { choices: [], longestSeconds: 3600 };
    expect(renderConsent(en, { ...page, time })).not.toContain('while you are away');
  });

  it('offers another account with a form of its own, only where the caller can switch', () => {
    expect(tagWith(renderConsent(en, page), page.switchAccountAction ?? '')).toBe(
      '<form method="post" action="/interaction/i1/switch">',
    );
    expect(renderConsent(en, { ...page, switchAccountAction: undefined })).not.toContain(
      'Use another account',
    );
  });

  it('refuses to ask for consent to a redirect URI that could not have been registered', () => {
    expect(() => renderConsent(en, { ...page, answer: { redirectUri: 'javascript:alert(1)' } })).toThrow(
      TypeError,
    );
  });

  it('has one heading and a title that names the page', () => {
    const html = renderConsent(en, page);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(html).toContain('<title>Allow Claude Code? – Team notes</title>');
  });

  it('cuts a 10 KB name and shows none of its control characters (T-060)', () => {
    const html = renderConsent(en, {
      ...page,
      client: { ...page.client, name: `\u202E${'n'.repeat(10_240)}` },
    });
    expect(html).not.toContain('n'.repeat(101));
    expect(html).not.toContain('\u202E');
  });

  it('keeps the same tags and attributes whatever the texts hold (T-059)', () => {
    const attacked: ConsentPage = {
      action: hostile,
      csrf: hostile,
      client: { name: hostile, clientId: hostile, uri: hostile },
      account: hostile,
      resourceName: hostile,
      resource: hostile,
      answer: { redirectUri: "http://127.0.0.1:53682/'onclick=alert(1)&amp;x=y" },
      scopes: [
        { scope: hostile, description: hostile, isAllowed: false, tools: [hostile] },
        { scope: hostile, description: hostile, isAllowed: true },
      ],
      freeTools: [hostile],
      learned: { facts: ['groups'], label: hostile },
      hasEarlier: true,
      time: page.time,
      switchAccountAction: hostile,
    };
    const ordinary: ConsentPage = {
      ...page,
      client: { name: 'A', clientId: 'a' },
      scopes: [
        { scope: 'a', description: 'A', isAllowed: false, tools: ['a'] },
        { scope: 'b', description: 'B', isAllowed: true },
      ],
      freeTools: ['b'],
      learned: { facts: ['groups'], label: 'a' },
      hasEarlier: true,
    };
    expect(pageStructure(renderConsent(en, attacked))).toEqual(pageStructure(renderConsent(en, ordinary)));
  });
});

describe('renderConsent for a device', () => {
  const device = { userCode: 'BCDF-GHJK', address: '203.0.113.7', askedSecondsAgo: 130 };

  it('says that only the code is certain, also where a document describes the app, and whose start it must be', () => {
    const html = renderConsent(en, { ...page, answer: { device } });
    expect(html).toContain('Not checked:');
    expect(html).toContain('Any device can say that.');
    expect(html).toContain('the device that shows the code BCDF-GHJK');
    expect(html).toContain('requested from 203.0.113.7, 2 minutes ago');
    expect(html).toContain('Only continue if you started this yourself, on a device in front of you.');
    expect(html).not.toContain('Described by');
  });

  it('warns about a registered app as well', () => {
    const client = { ...page.client, clientId: 'client_1' };
    expect(renderConsent(en, { ...page, client, answer: { device } })).toContain(
      'Only continue if you started this yourself, on a device in front of you.',
    );
  });
});
