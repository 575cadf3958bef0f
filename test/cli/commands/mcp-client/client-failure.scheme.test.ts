import { expect, it } from 'vitest';
import { hintAtScheme } from '../../../../src/cli/commands/mcp-client/client-failure.ts';

it.each([
  ['localhost:3000/mcp', 'Did you mean http://localhost:3000/mcp?'],
  ['127.0.0.1:3000', 'Did you mean http://127.0.0.1:3000?'],
  ['[::1]/mcp', 'Did you mean http://[::1]/mcp?'],
  ['notes:3000/mcp', 'Did you mean http://notes:3000/mcp?'],
  ['mcp.example.com/mcp', 'Did you mean https://mcp.example.com/mcp?'],
  ['https://mcp.example.com/mcp', undefined],
  ['mailto:ada@example.com', undefined],
  ['program', undefined],
  ['./server.js', undefined],
])('a scheme that was left out is guessed: %s', (url, hint) => {
  expect(hintAtScheme(url)).toBe(hint);
});
