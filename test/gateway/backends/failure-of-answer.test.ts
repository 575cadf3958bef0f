import { expect, it } from 'vitest';
import { failureOfAnswer } from '../../../src/gateway/backends/failure-of-answer.ts';

it.each([
  ['nested_too_deep', 'backend_answer_too_large'],
  ['too_many_values', 'backend_answer_too_large'],
  ['too_many_members', 'backend_answer_too_large'],
  ['not_json', 'backend_answer_unreadable'],
  ['not_a_message', 'backend_answer_unreadable'],
] as const)('an answer that is refused as %s is told as %s', (reason, failure) => {
  expect(failureOfAnswer(reason)).toBe(failure);
});
