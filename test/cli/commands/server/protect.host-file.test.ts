import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHostFile } from '../../../../src/cli/commands/server/protect.ts';
import { testFolder } from '../../../client/support/folder.ts';

function fileWith(text: string): string {
  const file = join(testFolder(), 'mcp.json');
  writeFileSync(file, text);
  return file;
}

describe('the file of a desktop host', () => {
  it.each([
    ['mcpServers', '{ "mcpServers": { "a": { "command": "x" } }, "other": 1 }'],
    ['servers, with comments', '{ // VS Code\n "inputs": [], "servers": { "a": { "command": "x" }, }, }'],
  ])('has its servers under %s', (_member, text) => {
    expect(readHostFile(fileWith(text))).toEqual({ a: { command: 'x' } });
  });

  it.each([
    ['{ "mcpServers": {} }', 'has no MCP servers'],
    ['[]', 'has no MCP servers'],
    ['{ "mcpServers": { "a": canary } }', 'is no JSON'],
  ])('that is %s is refused without repeating what is in it (T-194)', (text, sentence) => {
    const refused = () => readHostFile(fileWith(text));
    expect(refused).toThrow(sentence);
    expect(refused).not.toThrow('canary');
  });

  it('that is not there is named', () => {
    expect(() => readHostFile(join(testFolder(), 'none.json'))).toThrow('none.json: there is no such file');
  });
});
