import { describe, expect, it } from 'vitest';
import { completables, zshCompletion } from '../../../src/cli/commands/completion.ts';
import { sampleProgram } from '../support/sample-program.ts';

const script = zshCompletion('sample', completables(sampleProgram()));

describe('completion in zsh', () => {
  it('names each candidate with what it is, on one line', () => {
    expect(script).toMatch(/^#compdef sample$/m);
    expect(script).toContain(`'account') candidates=('add:add one' 'list:list them'`);
    expect(script).toContain(`'reach:reach a server: any server'\\''s'`);
    expect(script).toContain('--transport) compadd -- http sse; return ;;');
    expect(script).toMatch(/^compdef _sample_completion sample$/m);
  });

  it('has every quote closed', () => {
    expect(script.replaceAll(`'\\''`, '').split("'").length % 2).toBe(1);
  });
});
