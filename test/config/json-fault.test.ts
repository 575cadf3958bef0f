import { expect, it } from 'vitest';
import { describeJsonFault } from '../../src/config/json-fault.ts';

function faultOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return describeJsonFault(text, error as Error);
  }
  throw new Error('it is JSON');
}

it.each([
  ['{bad', /property name.*, line 1$/],
  ['{\n  "a": 1,\n}', /property name.*, line 3$/],
  ['{\n  "a": "x"\n  "b": 1\n}', /after property value.*, line 3$/],
  ['{\n "a": {\n  "TOKEN": canary-1234567890\n } }', /^Unexpected "c", line 3$/],
  ['canary', /^Unexpected "c", line 1$/],
  ['[canary-1234567, canary-1234567, canary', /^Unexpected "c", line 1$/],
  ['{ "canary": [', /^it ends too early$/],
  ['', /^it ends too early$/],
])('says where %j is no JSON, and repeats nothing of it (T-194)', (text, fault) => {
  expect(faultOf(text)).toMatch(fault);
  expect(faultOf(text)).not.toContain('canary');
});
