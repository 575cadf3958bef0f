import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { pasteTerminal } from '../../../../src/cli/commands/mcp-client/login-person.ts';
import { testIo } from '../../support/client-commands.ts';

const say = (): void => undefined;
const asTerminal = (): PassThrough => Object.assign(new PassThrough(), { isTTY: true });

describe('where an answer is pasted', () => {
  it('is read key by key and shown at a terminal', () => {
    const [stdin, stderr] = [asTerminal(), asTerminal()];
    expect(pasteTerminal({ ...testIo().io, stdin, stderr }, say)).toEqual({
      input: stdin,
      output: stderr,
      isTerminal: true,
      say,
    });
  });

  it('is not shown where nobody looks', () => {
    const [stdin, stderr] = [asTerminal(), new PassThrough()];
    expect(pasteTerminal({ ...testIo().io, stdin, stderr }, say).output).toBeUndefined();
    expect(pasteTerminal(testIo().io, say)).toMatchObject({ isTerminal: false });
  });
});
