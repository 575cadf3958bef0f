import { describe, expect, it } from 'vitest';
import { formatResult } from '../../../../src/cli/commands/mcp-client/call.ts';

describe('a result on a terminal', () => {
  it('has its texts without escape sequences, and a line for everything else (T-190)', () => {
    const text = formatResult({
      content: [
        { type: 'text', text: 'a\u001b[2Jb\nc\n' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'file:///x\u001b[1m', name: 'n' },
        { type: 'resource', resource: { uri: 'a:1', text: 'inside' } },
      ],
    });
    expect(text).toBe('ab\nc\n\n[image image/png 3 bytes]\n[resource_link file:///x]\ninside\n');
  });

  it('is its structured content where there is nothing else', () => {
    expect(JSON.parse(formatResult({ content: [], structuredContent: { a: 1 } }))).toEqual({ a: 1 });
    expect(formatResult({ content: [] })).toBe('');
  });
});
