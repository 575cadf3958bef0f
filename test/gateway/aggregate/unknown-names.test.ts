import { expect, it } from 'vitest';
import { unknownName } from '../../../src/gateway/aggregate/unknown-names.ts';

it.each([
  [
    'tools/call',
    { name: 'read' },
    -32602,
    'read is not found: names begin with the backend they are of (a, b) and _',
  ],
  ['completion/complete', { ref: {} }, -32602, 'It is not found: names begin with'],
  ['resources/read', { uri: 'x:y' }, -32002, 'URIs begin with the backend they are of (a, b) and +.'],
  ['tasks/list', {}, -32601, 'Method not found'],
])(
  '%s for no backend is an error that says how names begin, where there are any',
  (method, params, code, words) => {
    const error = unknownName({ method, params }, ['a', 'b']);
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
  },
);
