import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { SettingsRefused } from '../../src/settings/settings-refused.ts';

function problemsOf(input: unknown): readonly string[] {
  try {
    parseSettings(input);
  } catch (error) {
    if (error instanceof SettingsRefused) return error.problems;
    throw error;
  }
  return [];
}

describe('the public URL', () => {
  it.each([
    ['https://mcp.example.com', 'https://mcp.example.com'],
    ['https://mcp.example.com/', 'https://mcp.example.com'],
    ['https://MCP.Example.com:443/base//', 'https://mcp.example.com/base'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('%s is kept as %s', (given, kept) => {
    expect(parseSettings({ publicUrl: given }).publicUrl).toBe(kept);
  });

  it.each([
    ['', /absolute URL/],
    ['mcp.example.com', /absolute URL/],
    ['/mcp', /absolute URL/],
    ['javascript:alert(1)', /absolute URL/],
    ['http://mcp.example.com', /must begin with https/],
    ['http://127.0.0.1.example.com', /must begin with https/],
    ['https://mcp.example.com?x=1', /no query, fragment or user name/],
    ['https://mcp.example.com#x', /no query, fragment or user name/],
    ['https://me:secret@mcp.example.com', /no query, fragment or user name/],
  ])('%j is refused, and not repeated', (given, fault) => {
    const [problem, ...others] = problemsOf({ publicUrl: given });
    expect(problem).toMatch(fault);
    expect(problem).not.toContain('secret');
    expect(others).toEqual([]);
  });
});
