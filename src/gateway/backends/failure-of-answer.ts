import { maxValues } from '../../mcp/checks/json.ts';
import type { Refusal } from '../../mcp/refusal.ts';
import type { BackendFailure } from './backend-errors.ts';

/** Most values in an answer of a backend. */
export const defaultMaxAnswerValues = maxValues;

/**
 * Says what an answer that could not be read is to its caller: larger than is read, or none at all.
 * @param reason why it was not read
 */
export function failureOfAnswer(reason: Refusal['reason']): BackendFailure {
  return reason === 'nested_too_deep' || reason === 'too_many_values' || reason === 'too_many_members'
    ? 'backend_answer_too_large'
    : 'backend_answer_unreadable';
}
