import { describe, expect, it } from 'vitest';
import { compareUrls } from '../../../../src/doctor/machine/hosts/nearness.ts';

const url = 'https://mcp.example.com/mcp';

describe('two URLs', () => {
  it.each([
    [url, url, 'same'],
    [url, 'https://mcp.example.com/mcp/', 'variant'],
    [url, 'http://mcp.example.com/mcp', 'variant'],
    [url, 'https://MCP.example.com/MCP', 'variant'],
    [url, `${url}?a=b`, 'variant'],
    [url, 'https://mcp.exmaple.com/mcp', 'typo'],
    [url, 'https://mcp.example.com/mpc', 'typo'],
    [url, 'https://mcp.example.com/other-server', 'other'],
    [url, 'https://elsewhere.example/mcp', 'other'],
    ['http://localhost:3000/mcp', 'http://127.0.0.1:3000/mcp', 'variant'],
    ['http://localhost:3000/mcp', 'http://localhost:3001/mcp', 'other'],
    [url, 'htps//mcp.example.com/mcp', 'typo'],
  ])('%s and %s are %s', (examined, configured, nearness) => {
    expect(compareUrls(examined, configured)).toBe(nearness);
  });
});
