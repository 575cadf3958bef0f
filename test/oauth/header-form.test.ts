import { describe, expect, it } from 'vitest';
import { headerNameForm, headerValueForm } from '../../src/oauth/header-form.ts';

describe('the form of a header', () => {
  it.each(['x-api-key', 'ETag', "!#$%&'*+.^_`|~-0"])('takes the name %s', (name) => {
    expect(headerNameForm.test(name)).toBe(true);
  });

  it.each(['', 'x key', 'x:', 'x\r\ny', 'x\n', 'x\0', 'é', '"x"', 'x/y', '(x)', '[x]'])(
    'takes no name %j (T-157)',
    (name) => {
      expect(headerNameForm.test(name)).toBe(false);
    },
  );

  it.each(['', 'a value', '\ta', 'caf\xe9', '"quoted", and more'])('takes the value %j', (value) => {
    expect(headerValueForm.test(value)).toBe(true);
  });

  it.each(['a\r\nx: y', 'a\n', 'a\r', 'a\0b', 'a\x7f', '\u20ac'])('takes no value %j (T-157)', (value) => {
    expect(headerValueForm.test(value)).toBe(false);
  });
});
