import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import {
  createCsrfCheck,
  csrfToken,
  FormRefused,
  readForm,
} from '../../../src/authorization-server/interactions/form.ts';
import { serveSteps } from '../../support/koa-step.ts';

const origin = 'https://mcp.example.com';
const token = csrfToken(['a key'], 'consent', 'uid-1');

async function post(
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> {
  const url = await serveSteps([
    async (ctx: Context) => {
      try {
        ctx.body = [
          ...(await readForm(ctx, origin, createCsrfCheck(['a new key', 'a key'], 'consent', 'uid-1'))),
        ];
      } catch (error) {
        if (!(error instanceof FormRefused)) throw error;
        ctx.status = error.status;
        ctx.body = error.message;
      }
    },
  ]);
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the token of a form', () => {
  it('counts for the same page of the same interaction under the same key, and for no other (T-014)', () => {
    const check = createCsrfCheck(['a key'], 'consent', 'uid-1');
    expect(check(token)).toBe(true);
    const others = [
      csrfToken(['another key'], 'consent', 'uid-1'),
      csrfToken(['a key'], 'login', 'uid-1'),
      csrfToken(['a key'], 'consent', 'uid-2'),
      csrfToken(['a key'], 'consentuid', '-1'),
      '',
      '.',
      token.split('.')[1] ?? '',
    ];
    expect(others.filter(check)).toEqual([]);
    expect(token).not.toContain('uid-1');
  });

  it('is another one in each copy of the page (T-208)', () => {
    expect(csrfToken(['a key'], 'consent', 'uid-1')).not.toBe(token);
  });
});

describe('a posted form', () => {
  it('with its token is read, fields in their order, also where a new key has taken the place of its own (T-179)', async () => {
    const { status, text } = await post(form, `csrf=${token}&scope=a&scope=b%20c`);
    expect([status, JSON.parse(text)]).toEqual([
      200,
      [
        ['csrf', token],
        ['scope', 'a'],
        ['scope', 'b c'],
      ],
    ]);
  });

  it.each([
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 200],
    [{ origin: 'https://mcp.example.com' }, 200],
    [{ origin: 'null' }, 200],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ 'sec-fetch-site': 'SAME-ORIGIN' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://mcp.example.com' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'http://mcp.example.com' }, 403],
    [{ origin: 'https://mcp.example.com:8443' }, 403],
  ] as [Record<string, string>, number][])('whose browser says %j is %i (T-014)', async (headers, status) => {
    expect((await post({ ...form, ...headers }, `csrf=${token}`)).status).toBe(status);
  });

  it.each(['', 'csrf=', 'csrf=x', `csrf=x&csrf=${token}`, `CSRF=${token}`])(
    'without the right token is 403: %s (T-014)',
    async (body) => {
      expect((await post(form, body)).status).toBe(403);
    },
  );

  it('is 415 in another format and 413 over 16 KB, before its token is looked at', async () => {
    expect((await post({ 'content-type': 'text/plain' }, `csrf=${token}`)).status).toBe(415);
    expect((await post({ 'content-type': 'multipart/form-data' }, `csrf=${token}`)).status).toBe(415);
    expect((await post(form, `csrf=${token}&x=${'x'.repeat(16 * 1024)}`)).status).toBe(413);
  });
});
