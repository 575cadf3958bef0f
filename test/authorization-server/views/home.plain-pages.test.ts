import { describe, expect, it } from 'vitest';
import { buildFailurePage, buildHomePage } from '../../../src/authorization-server/views/home.ts';

const pages = [
  buildHomePage(
    {
      name: 'mcp.example.com',
      servers: [{ name: 'Notes', mcpUrl: 'https://mcp.example.com/mcp' }],
      accountUrl: 'https://mcp.example.com/account',
    },
    '',
  ),
  buildFailurePage({ status: 500, code: 'server_error', requestId: 'request-1', acceptLanguage: '' }),
  buildFailurePage({
    status: 503,
    code: 'temporarily_unavailable',
    requestId: 'request-1',
    acceptLanguage: '',
  }),
  buildFailurePage({ status: 404, code: 'not_found', requestId: 'request-1', acceptLanguage: 'zh-CN' }),
];

describe('pages outside of a login', () => {
  it('come with the headers of all pages, and load nothing (T-017)', () => {
    for (const { headers, html } of pages) {
      expect(headers).toMatchObject({ 'Cache-Control': 'no-store', 'X-Frame-Options': 'DENY' });
      expect(headers['Content-Security-Policy']).toContain("default-src 'none'");
      expect(html).toMatch(/^<!DOCTYPE html>/);
    }
  });

  it('of failures say whether waiting helps, and give the request id (T-196)', () => {
    const [, failed, busy] = pages;
    expect(busy?.html).toContain('Wait a few seconds');
    expect(failed?.html).not.toContain('Wait a few seconds');
    for (const page of [failed, busy]) expect(page?.html).toContain('request-1');
  });

  it('of paths that are not ours say so in the language of the browser', () => {
    expect(pages[3]?.html).toContain('页面不存在');
  });
});
