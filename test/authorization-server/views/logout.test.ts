import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { renderLogout } from '../../../src/authorization-server/views/logout.ts';
import { hostile, pageStructure } from './page-structure.ts';

const page = {
  action: '/session/end/confirm',
  csrf: 'csrf-1',
  account: 'ada@example.com',
  redirectUri: undefined,
};

describe('renderLogout', () => {
  it('says who is logged in, that apps keep their access, and has staying as its first button', () => {
    const html = renderLogout(en, page);
    expect(html).toContain('ada@example.com');
    expect(html).toContain('Apps keep the access you gave them');
    expect(html).toContain('<input type="hidden" name="xsrf" value="csrf-1">');
    expect(html.indexOf('<button')).toBe(html.indexOf('<button type="submit">Stay logged in'));
    expect(html).toContain('name="logout" value="yes">Log out');
  });

  it('says where it goes on, as a host that cannot be mistaken (T-112)', () => {
    const html = renderLogout(en, { ...page, redirectUri: 'https://app.example.com/bye' });
    expect(html).toContain('Then you continue to <strong>app.example.com</strong>');
    expect(() => renderLogout(en, { ...page, redirectUri: 'javascript:alert(1)' })).toThrow(TypeError);
  });

  it('has one button where nobody is logged in', () => {
    const html = renderLogout(en, { ...page, account: undefined });
    expect(html).toContain('Nobody is logged in here');
    expect(html.match(/<button/g)).toHaveLength(1);
  });

  it('keeps the name of an account inert (T-059)', () => {
    expect(pageStructure(renderLogout(en, { ...page, account: hostile }))).toEqual(
      pageStructure(renderLogout(en, page)),
    );
  });
});
