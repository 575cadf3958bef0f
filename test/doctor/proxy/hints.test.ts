import { describe, expect, it } from 'vitest';
import { type ProxyFault, proxyHints } from '../../../src/doctor/proxy/hints.ts';

const faults: ProxyFault[] = [
  'buffering',
  'compression',
  'idle_cut',
  'request_header_stripped',
  'response_header_stripped',
  'host',
  'redirect',
  'header_size',
  'body_size',
  'error_page',
  'caching',
  'prefix_stripped',
  'well_known',
];

describe('hints', () => {
  it.each(faults)('for %s name lines for nginx at least, and none is empty', (fault) => {
    const hints = proxyHints(fault, { path: '/tools/mcp', header: 'Authorization' }, []);
    expect(hints.map(({ product }) => product)).toContain('nginx');
    expect(hints.filter(({ lines }) => lines.trim() === '' || lines.includes('undefined'))).toEqual([]);
  });

  it('are for the products that were seen; for all where none was', () => {
    const seen = proxyHints('buffering', { path: '/mcp' }, ['caddy']);
    expect(seen).toEqual([{ product: 'caddy', lines: 'flush_interval -1' }]);
    expect(proxyHints('buffering', { path: '/mcp' }, []).length).toBeGreaterThan(3);
  });

  it('for HAProxy are lines of its own', () => {
    expect(proxyHints('header_size', { path: '/mcp' }, ['haproxy'])).toEqual([
      { product: 'haproxy', lines: 'tune.bufsize 32768' },
    ]);
    expect(proxyHints('well_known', { path: '/mcp' }, ['haproxy'])[0]?.lines).toContain(
      'use_backend mcp if { path_beg /.well-known/oauth-protected-resource }',
    );
  });

  it('name the path and the header in question', () => {
    const [nginx] = proxyHints('request_header_stripped', { path: '/mcp', header: 'Mcp-Session-Id' }, [
      'nginx',
    ]);
    expect(nginx?.lines).toBe('proxy_set_header Mcp-Session-Id $http_mcp_session_id;');
    const [apache] = proxyHints('compression', { path: '/tools/mcp' }, ['apache']);
    expect(apache?.lines).toContain('"^/tools/mcp"');
  });
});
