import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { type LoginPage, renderLogin } from '../../../src/authorization-server/views/login.ts';
import { hostile, pageStructure, tagWith } from './page-structure.ts';

const page: LoginPage = {
  action: '/interaction/i1/login',
  csrf: 'csrf-1',
  client: { name: 'Claude Code', clientId: 'c1' },
  resourceName: 'Team notes',
  cancelAction: '/interaction/i1/cancel',
};

describe('renderLogin', () => {
  it('posts csrf, email and password to the action', () => {
    const html = renderLogin(en, page);
    const form = html.slice(html.indexOf('<form'), html.indexOf('</form>'));
    expect(form).toContain('<form method="post" action="/interaction/i1/login">');
    expect([...form.matchAll(/ name="([a-z]+)"/g)].map(([, name]) => name)).toEqual([
      'csrf',
      'email',
      'password',
    ]);
    expect(form).toContain('name="csrf" value="csrf-1"');
  });

  it('cancels with a form of its own that posts csrf and no password', () => {
    const html = renderLogin(en, page);
    const form = html.slice(html.lastIndexOf('<form'), html.lastIndexOf('</form>'));
    expect(form).toContain('method="post" action="/interaction/i1/cancel"');
    expect(form).toContain('name="csrf" value="csrf-1"');
    expect(form).not.toContain('password');
  });

  it('tells password managers which field is which', () => {
    const html = renderLogin(en, page);
    expect(tagWith(html, 'name="email"')).toContain('type="email" autocomplete="username"');
    expect(tagWith(html, 'name="password"')).toContain('type="password" autocomplete="current-password"');
  });

  it('binds a label to each field', () => {
    const html = renderLogin(en, page);
    expect(html).toContain('<label for="email">E-mail</label>');
    expect(tagWith(html, 'name="email"')).toContain('id="email"');
    expect(html).toContain('<label for="password">Password</label>');
    expect(tagWith(html, 'name="password"')).toContain('id="password"');
  });

  it('ties a problem to both fields, announces it and never fills in the password', () => {
    const html = renderLogin(en, {
      ...page,
      email: 'ada@example.com',
      problem: 'E-mail or password is wrong.',
    });
    expect(html).toContain('id="problem" role="alert"><p>E-mail or password is wrong.</p>');
    for (const name of ['email', 'password']) {
      expect(tagWith(html, `name="${name}"`)).toContain('aria-invalid="true" aria-describedby="problem"');
    }
    expect(tagWith(html, 'name="email"')).toContain('value="ada@example.com"');
    expect(tagWith(html, 'name="password"')).not.toContain('value=');
  });

  it('mentions no problem when there is none', () => {
    expect(renderLogin(en, page)).not.toMatch(/aria-invalid=|aria-describedby=|role="alert"/);
  });

  it('starts in the first field that is still empty', () => {
    expect(tagWith(renderLogin(en, page), 'name="email"')).toContain(' autofocus');
    expect(tagWith(renderLogin(en, page), 'name="password"')).not.toContain('autofocus');
    const known = renderLogin(en, { ...page, email: 'ada@example.com' });
    expect(tagWith(known, 'name="email"')).not.toContain('autofocus');
    expect(tagWith(known, 'name="password"')).toContain(' autofocus');
  });

  it('says of the name that it was not checked', () => {
    expect(renderLogin(en, page)).toContain('The app chose this name itself. It has not been checked.');
  });

  it('has one heading and a title that names the page', () => {
    const html = renderLogin(en, page);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(html).toContain('<title>Log in – Team notes</title>');
  });

  it('keeps the same tags and attributes whatever the texts hold (T-059)', () => {
    const ordinary = { ...page, email: 'ada@example.com', problem: 'Wrong.' };
    const attacked: LoginPage = {
      action: hostile,
      csrf: hostile,
      client: { name: hostile, clientId: hostile, uri: hostile },
      resourceName: hostile,
      email: hostile,
      problem: hostile,
      cancelAction: hostile,
    };
    const structure = pageStructure(renderLogin(en, attacked));
    expect(structure).toEqual(pageStructure(renderLogin(en, ordinary)));
    expect(structure).toContain(
      'input id name type autocomplete required aria-invalid aria-describedby autofocus',
    );
  });

  it('offers logins elsewhere, beside our own or alone', () => {
    const upstreams = {
      action: '/interaction/i1/upstream',
      choices: [
        { name: 'work', label: 'Work' },
        { name: 'hub', label: hostile },
      ],
    };
    const html = renderLogin(en, { ...page, upstreams });
    expect(html).toContain('<button type="submit" name="upstream" value="work">Log in with Work</button>');
    expect(html.indexOf('name="password"')).toBeLessThan(html.indexOf('name="upstream"'));
    const ordinary = [upstreams.choices[0], { name: 'hub', label: 'Hub' }] as typeof upstreams.choices;
    expect(pageStructure(html)).toEqual(
      pageStructure(renderLogin(en, { ...page, upstreams: { ...upstreams, choices: ordinary } })),
    );
    const alone = renderLogin(en, { ...page, upstreams, upstreamsOnly: true });
    expect(alone).not.toContain('name="password"');
    expect(alone).toContain('name="upstream"');
    expect(renderLogin(en, page)).not.toContain('upstream');
  });
});
